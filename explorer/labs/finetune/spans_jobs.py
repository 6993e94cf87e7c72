"""A visitor's question to a run that finds answers in a text, and to the same model before it was trained."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.finetune.spans import MOST_SPANS, AnswerParams, AnswerResult, Span, SpanAnswer, SpanToken
from explorer.models.encoding import Encoded, Token, encode
from explorer.runs.open import OpenRun, OpenRuns
from explorer.tasks.task import SPAN
from explorer.text import checked_text
from explorer.tuning.adapted import Adapted
from explorer.tuning.qa_head import CANDIDATES, candidates_of, scores_of, span_scores


def answer_question(open_run: OpenRuns, params: AnswerParams) -> AnswerResult:
    """Find where the answer starts and ends, token by token, and the likeliest spans.

    Raises BadInputError for a run of another kind, and for a text that does not fit into one row.
    """
    run = open_run(params.run)
    if run.record.kind != SPAN:
        raise BadInputError(
            f"{run.record.name} has not learned to find answers in a text. Choose a run of a task with questions and texts, such "
            "as the bundled SQuAD-like one, or train one."
        )
    run.require_weights()
    text = checked_text(params.text)
    encoded = encode(run.loaded(), params.question, text)
    untouched, adapted = run.begin(), run.restore()
    if len(encoded.tokens) > adapted.longest:
        raise BadInputError(
            f"Question and text are {len(encoded.tokens)} tokens long, and {run.record.name} reads at most {adapted.longest}. "
            "Shorten the text."
        )
    inside = [token for token in encoded.tokens if token.sentence == 1]
    return AnswerResult(
        run.record.run_id,
        checked_text(params.question),
        tuple(SpanToken(token.position, token.shown, token.joined) for token in inside),
        _answer("before training", untouched, run, encoded, inside, text),
        _answer(run.record.name, adapted, run, encoded, inside, text),
    )


@torch.no_grad()
def _answer(name: str, adapted: Adapted, run: OpenRun, encoded: Encoded, inside: list[Token], text: str) -> SpanAnswer:
    # [CLS] and the text; not the question.
    candidates = candidates_of([token.sentence == 1 for token in encoded.tokens])
    inputs = {**encoded.inputs, CANDIDATES: torch.tensor([candidates], device=encoded.input_ids.device)}
    logs = scores_of(adapted, inputs).log_softmax(1).cpu()  # (1, tokens, 2), a distribution over tokens each
    starts, ends = logs[0].exp().unbind(-1)  # (tokens,) each
    places = [token.position for token in inside]
    return SpanAnswer(
        name,
        tuple(starts[places].tolist()),
        tuple(ends[places].tolist()),
        (float(starts[0]), float(ends[0])),
        _best(logs, encoded, text),
    )


def _best(logs: Tensor, encoded: Encoded, text: str) -> tuple[Span, ...]:
    """Return the likeliest spans, from the logarithms of the probabilities, (1, tokens, 2)."""
    sums = span_scores(logs)[0]  # (tokens, tokens): by start and end
    best = sums.flatten().topk(min(MOST_SPANS, int(sums.isfinite().sum())))  # spans that are not allowed have -inf
    spans = []
    for value, place in zip(best.values.exp().tolist(), best.indices.tolist(), strict=True):
        first, last = (encoded.tokens[position] for position in divmod(place, len(sums)))
        spans.append(Span(text[first.start : last.stop].strip(), first.position, last.position, value))
    return tuple(spans)
