"""Fine-tuning to find answers in a text: rows of a question and a window of its text, the loss on start and end, the
best span.

Source: Devlin et al. 2019, BERT, sections 4.2 and 4.3; the windows are those of its SQuAD recipe.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer
from torch import Tensor
from torch.nn.functional import cross_entropy

from explorer.models.loaded_model import LoadedModel
from explorer.tasks.answers import f1, score_answers
from explorer.tasks.task import NO_ANSWER, Example, Judged
from explorer.tuning.adapted import Adapted
from explorer.tuning.kinds import EVALUATIONS_OF_ANSWERS, LONGEST_ANSWER, STRIDE
from explorer.tuning.reading import precision
from explorer.tuning.rows import Rows, never, ordered_batches, unless_stopped
from explorer.tuning.training import Training

LONGEST_QUESTION = 64
"""Tokens that a question may have, as in BERT's recipe."""

AT_ONCE = 1000
"""Examples whose encodings are held in memory at a time."""

SHOWN_AROUND = 160
"""Characters of a context that a record keeps on each side of the answer."""

CANDIDATES = "candidates"
"""The input that tells, 1 or 0 for each token, where an answer may start and end: at the context's tokens, and at the
row's first token, which stands for no answer.
"""

Place = tuple[int, int]


@dataclass(frozen=True)
class SpanRows(Rows):
    """A row for each window of each example's context. labels: the number of the example among `examples`.

    spans: (rows, 2), the positions of the answer's first and last token, both 0 if the window doesn't hold all of it.
    places: for each row, (tokens, 2), the characters of the context that each token covers.
    """

    spans: Tensor = field(default_factory=lambda: torch.zeros(0, 2, dtype=torch.long))
    places: tuple[np.ndarray, ...] = ()


def rows_of(loaded: LoadedModel, examples: Sequence[Example], longest: int) -> SpanRows:
    """Tokenise pairs, question first and context second, as BERT reads them. A context that is too long becomes several
    windows.

    longest: tokens of a row. Rows.cut: how many questions lose their end.
    """
    longest = min(longest, loaded.longest)
    inputs: list[dict[str, list[int]]] = []
    spans, numbers, places, cut = [], [], [], 0
    for number, question, windows in _read(loaded, examples, longest):
        cut += bool(question.overflowing)
        for window in windows:
            row = _joined(loaded, question, window)
            inside = [sequence == 1 for sequence in row.sequence_ids]
            characters = np.array(row.offsets, dtype=np.int32)
            inputs.append(_input(loaded, row, inside))
            spans.append(_tokens_of(examples[number], inside, characters))
            places.append(characters)
            numbers.append(number)
    filled = dict.fromkeys(inputs[0], 0) | {"input_ids": int(loaded.tokenizer.pad_token_id or 0)} if inputs else {}
    labels = torch.tensor(numbers, dtype=torch.float64)
    return SpanRows(
        tuple(inputs), labels, filled, cut, tuple(examples), torch.tensor(spans).reshape(-1, 2), tuple(places)
    )


def _read(
    loaded: LoadedModel, examples: Sequence[Example], longest: int
) -> Iterator[tuple[int, Encoding, list[Encoding]]]:
    """Yield each example's number, its question and the windows of its context, in tokens without special ones."""
    backend: Tokenizer = loaded.tokenizer.backend_tokenizer
    special = loaded.tokenizer.num_special_tokens_to_add(pair=True)
    for begin in range(0, len(examples), AT_ONCE):
        chosen = examples[begin : begin + AT_ONCE]
        questions = backend.encode_batch([one.text for one in chosen], add_special_tokens=False)
        contexts = backend.encode_batch([one.second or "" for one in chosen], add_special_tokens=False)
        for number, (question, context) in enumerate(zip(questions, contexts, strict=True), begin):
            # A tokenizer that is told to truncate cannot be shared between threads, so its encodings are truncated.
            question.truncate(min(LONGEST_QUESTION, (longest - special) // 2))
            room = longest - special - len(question)
            context.truncate(room, stride=min(STRIDE, room // 2))
            yield number, question, [context, *context.overflowing]


def _joined(loaded: LoadedModel, question: Encoding, window: Encoding) -> Encoding:
    """Join a question and a window with the model's own special tokens."""
    backend: Tokenizer = loaded.tokenizer.backend_tokenizer
    # Otherwise it would join every pair of windows.
    joined: Encoding = backend.post_process(_alone(question), _alone(window))
    return joined


def _alone(encoding: Encoding) -> Encoding:
    if encoding.overflowing:
        encoding.truncate(len(encoding))
    return encoding


def _input(loaded: LoadedModel, row: Encoding, inside: Sequence[bool]) -> dict[str, list[int]]:
    given = {"input_ids": row.ids, "token_type_ids": row.type_ids, "attention_mask": row.attention_mask}
    named = {name: list(ids) for name, ids in given.items() if name in loaded.tokenizer.model_input_names}
    return {**named, CANDIDATES: candidates_of(inside)}


def candidates_of(inside: Sequence[bool]) -> list[int]:
    """Return CANDIDATES for a row whose context's tokens are `inside`."""
    return [1, *(int(one) for one in inside[1:])]


def _tokens_of(example: Example, inside: Sequence[bool], characters: np.ndarray) -> Place:
    """Return the positions of the answer's first and last token; (0, 0) if it is not in this window."""
    if example.label == NO_ANSWER or not example.answers:
        return 0, 0
    start, end = int(example.label), int(example.label) + len(example.answers[0])
    window = np.flatnonzero(inside)
    if not len(window) or characters[window[0], 0] > start or characters[window[-1], 1] < end:
        return 0, 0
    answer = window[(characters[window, 1] > start) & (characters[window, 0] < end)]
    return (int(answer[0]), int(answer[-1])) if len(answer) else (0, 0)


def scores_of(adapted: Adapted, inputs: Mapping[str, Tensor]) -> Tensor:
    """Return (rows, tokens, 2): each token's score as the answer's start and end, -inf where neither may stand.

    The head's scores on virtual tokens, which stand before the row's, are left out.
    """
    candidates = inputs[CANDIDATES]
    # The last ones: virtual tokens come first.
    scores = adapted.kind.scores(adapted.model(**adapted.taken(inputs)))[:, -candidates.shape[1] :]
    return scores.float().masked_fill(candidates[..., None] == 0, -torch.inf)


@dataclass(frozen=True)
class Found:
    """The best span of a row, the sum of its start's and end's score, and that sum at the first token: no answer."""

    start: int
    end: int
    score: float
    null: float


def best_spans(scores: Tensor, longest: int = LONGEST_ANSWER) -> list[Found]:
    """Return for each row of (rows, tokens, 2) the span i ≤ j of at most `longest` tokens with the largest S_i + E_j."""
    sums = span_scores(scores, longest)
    best = sums.flatten(1).max(-1)
    null = scores[:, 0].sum(-1)
    width = sums.shape[-1]
    return [
        Found(place // width, place % width, score, nothing)
        for place, score, nothing in zip(best.indices.tolist(), best.values.tolist(), null.tolist(), strict=True)
    ]


def span_scores(scores: Tensor, longest: int = LONGEST_ANSWER) -> Tensor:
    """Return (rows, starts, ends): S_i + E_j of every valid span, -inf elsewhere."""
    tokens = scores.shape[1]
    valid = torch.ones(tokens, tokens, dtype=torch.bool, device=scores.device).triu().tril(longest - 1)
    valid[0] = False  # no span begins at the first token, which stands for no answer
    return (scores[:, :, None, 0] + scores[:, None, :, 1]).masked_fill(~valid, -torch.inf)


class SpanTraining(Training):
    """Training on the mean of −ln p(start) and −ln p(end)."""

    train_rows: SpanRows
    held_out: SpanRows

    def _batch_loss(self, batch: list[int]) -> Tensor:
        scores = self._scores(self.train_rows, batch)
        # Softmax over the tokens (dimension 1), once for starts and once for ends.
        return cross_entropy(scores, self.train_rows.spans[batch].to(self.device))

    def _scores(self, rows: SpanRows, places: list[int]) -> Tensor:
        with precision(self.device, self.adapted.loaded.architecture):
            return scores_of(self.adapted, rows.batch(places, self.device)[0])

    def _is_evaluated(self) -> bool:
        return self.step % math.ceil(self.steps / EVALUATIONS_OF_ANSWERS) == 0 or self.step == self.steps

    @property
    def measured_on(self) -> int:
        """How many questions are held out."""
        return len(self.held_out.examples)

    def held_out_scores(self, count: int | None = None, stopped: Callable[[], bool] = never) -> dict[str, float | None]:
        """Return F1 and exact match on the first `count` held-out questions, all if None."""
        return self.judge(self.held_out, count, stopped)[0]

    def judge(
        self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never
    ) -> tuple[dict[str, float | None], tuple[Judged, ...]]:
        """Return the metrics, and the answer found for each question. Raises BadInputError if the last step has made
        the model diverge.
        """
        assert isinstance(rows, SpanRows)
        self.adapted.eval()
        examples = rows.examples[:count]
        said = self._answers(rows, len(examples), stopped)
        judged = tuple(
            Judged(one.text, _shown(one), one.answers, text, f1(text, one.answers))
            for one, text in zip(examples, said, strict=True)
        )
        return score_answers(said, [one.answers for one in examples]), judged

    @torch.no_grad()
    def _answers(self, rows: SpanRows, count: int, stopped: Callable[[], bool]) -> list[str]:
        """Return the answers to the first `count` questions; "" for no answer."""
        chosen = [place for place, number in enumerate(rows.labels.tolist()) if number < count]
        found: list[list[tuple[Found, int]]] = [[] for _ in range(count)]
        for batch in unless_stopped(ordered_batches(rows.lengths[chosen]), stopped):
            places = [chosen[place] for place in batch]
            spans = best_spans(self._scores(rows, places))
            if any(one.null != one.null for one in spans):  # only NaN differs from itself
                raise self._diverged(self.step, float("nan"))
            for place, one in zip(places, spans, strict=True):
                found[int(rows.labels[place])].append((one, place))
        return [answer_of(rows, windows) for windows in found]


def answer_of(rows: SpanRows, windows: Sequence[tuple[Found, int]]) -> str:
    """Return the best span of all windows of a question, each with its row; "" if in every window the first token
    scores higher.

    As in BERT's recipe, the score of no answer is the lowest of the windows', and it must be larger than the best
    span's.
    """
    best, row = max(windows, key=lambda pair: pair[0].score)
    if min(one.null for one, _ in windows) > best.score:
        return ""
    return text_of(rows, row, best.start, best.end)


def text_of(rows: SpanRows, row: int, start: int, end: int) -> str:
    """Return the context's characters from one token to another."""
    context = rows.examples[int(rows.labels[row])].second or ""
    return context[rows.places[row][start, 0] : rows.places[row][end, 1]]


def _shown(example: Example) -> str:
    """Return the context, or the part around the answer if it is long."""
    context, place = example.second or "", max(0, int(example.label))
    begin, end = max(0, place - SHOWN_AROUND), place + 2 * SHOWN_AROUND
    if len(context) <= 3 * SHOWN_AROUND:
        return context
    return ("…" if begin else "") + context[begin:end] + ("…" if end < len(context) else "")
