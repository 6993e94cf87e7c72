"""Fine-tuning to put meanings into words: rows of a meaning and its text, the loss on the text alone, greedy texts to
measure by.

Source: Hu et al. 2021, LoRA, section 5.4 and its Table 3 (GPT-2 on the E2E NLG Challenge).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad
from transformers import DynamicCache

from explorer.errors import BadInputError
from explorer.maths.corruption import IGNORED_LABEL
from explorer.models.heads import head_at
from explorer.models.loaded_model import LoadedModel
from explorer.tasks.formats.e2e import ASKS
from explorer.tasks.generation_metrics import score
from explorer.tasks.metrics import LOSS
from explorer.tasks.task import Example, Judged
from explorer.tuning.adapted import Adapted
from explorer.tuning.kinds import EVALUATIONS_OF_TEXTS
from explorer.tuning.reading import precision
from explorer.tuning.rows import Rows, never, ordered_batches, unless_stopped
from explorer.tuning.training import Training

LONGEST_TEXT = 64
"""Tokens of a text that is generated to be measured; the bundled references have at most 60."""

ROWS_AT_ONCE = 64


def end_of(loaded: LoadedModel) -> int:
    """Return the token that ends a text: the tokenizer's end of text, else its separator."""
    known = (loaded.tokenizer.eos_token_id, loaded.tokenizer.sep_token_id, loaded.tokenizer.pad_token_id, 0)
    return int(next(token for token in known if token is not None))


def prompt_of(loaded: LoadedModel, meaning: str) -> list[int]:
    """Return the tokens of the prompt after which a text is generated."""
    ids: list[int] = loaded.tokenizer(meaning.strip() + ASKS)["input_ids"]
    return ids


def rows_of(loaded: LoadedModel, examples: Sequence[Example], longest: int) -> Rows:
    """Make a row for each text of each meaning: meaning, text, end of text; `labels` are the ids of the text and its
    end.

    A row that is too long loses its end. Rows.labels: the number of the meaning among `examples`. Raises BadInputError
    if no meaning leaves room for a text.
    """
    end = end_of(loaded)
    inputs, places, cut = [], [], 0
    for place, example in enumerate(examples):
        prompt = prompt_of(loaded, example.text)
        for text in example.answers:
            written = [*loaded.tokenizer(" " + text.strip())["input_ids"], end]
            ids, labels = prompt + written, [IGNORED_LABEL] * len(prompt) + written
            cut += len(ids) > longest
            if len(prompt) >= longest:
                continue
            inputs.append(
                {
                    "input_ids": ids[:longest],
                    "attention_mask": [1] * min(longest, len(ids)),
                    "labels": labels[:longest],
                }
            )
            places.append(place)
    if not inputs:
        raise BadInputError(
            f"No meaning leaves room for a text within the {longest} tokens that {loaded.model_id} reads. Take shorter ones."
        )
    filled = {"input_ids": end, "attention_mask": 0, "labels": IGNORED_LABEL}
    return Rows(tuple(inputs), torch.tensor(places, dtype=torch.float64), filled, cut, tuple(examples))


class WritingTraining(Training):
    """Training on −ln p of each text's tokens, given its meaning."""

    def _batch_loss(self, batch: list[int]) -> Tensor:
        summed, count = self._summed(self.train_rows, batch)
        return summed / count

    def _summed(self, rows: Rows, places: Sequence[int]) -> tuple[Tensor, int]:
        """Return the sum of −ln p over the texts' tokens of some rows, and how many these are."""
        inputs, _ = rows.batch(places, self.device)
        labels = inputs.pop("labels")
        follows = labels[:, 1:] != IGNORED_LABEL  # the state at a token predicts the next one
        virtual = self.adapted.spec.prefix_length if self.adapted.method.lengthens else 0
        chosen = pad(follows, (virtual, 1))  # the states of virtual tokens stand before the text's
        with precision(self.device, self.adapted.loaded.architecture), head_at(self.adapted.fork, chosen):
            logits = self.adapted.model(**self.adapted.taken(inputs)).logits[0]
        wanted = labels[:, 1:][follows]
        return cross_entropy(logits.float(), wanted, reduction="sum"), len(wanted)

    def _is_evaluated(self) -> bool:
        return self.step % math.ceil(self.steps / EVALUATIONS_OF_TEXTS) == 0 or self.step == self.steps

    def held_out_scores(self, count: int | None = None, stopped: Callable[[], bool] = never) -> dict[str, float | None]:
        """Return the five metrics of the first `count` held-out meanings, all if None, and −ln p a token of their
        references.
        """
        return self.judge(self.held_out, count, stopped)[0]

    @property
    def measured_on(self) -> int:
        """How many meanings are held out."""
        return len(self.held_out.examples)

    def judge(
        self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never
    ) -> tuple[dict[str, float | None], tuple[Judged, ...]]:
        """Return the metrics, and the text written for each meaning. Raises BadInputError if the last step has made the
        model diverge.
        """
        self.adapted.eval()
        examples = rows.examples[:count]
        prompts = [prompt_of(self.adapted.loaded, example.text) for example in examples]
        loss = self._loss_of(rows, len(examples), stopped)
        if not math.isfinite(loss):
            raise self._diverged(self.step, loss)
        texts = write(self.adapted, prompts, stopped=stopped)
        found = score(texts, [example.answers for example in examples]).named()
        judged = tuple(
            Judged(example.text, None, example.answers, text) for example, text in zip(examples, texts, strict=True)
        )
        return {**found, LOSS: loss}, judged

    @torch.no_grad()
    def _loss_of(self, rows: Rows, count: int, stopped: Callable[[], bool]) -> float:
        chosen = [place for place, meaning in enumerate(rows.labels.tolist()) if meaning < count]
        total, tokens = 0.0, 0
        for batch in unless_stopped(ordered_batches(rows.lengths[chosen]), stopped):
            summed, number = self._summed(rows, [chosen[place] for place in batch])
            total, tokens = total + float(summed), tokens + number
        return total / tokens


@dataclass
class Opening:
    """What stands before a generated text: the keys and values of a run's virtual tokens, if it has some. length: how many."""

    cache: DynamicCache
    length: int


@torch.no_grad()
def opening_of(adapted: Adapted, rows: int = 1) -> Opening:
    """Return virtual tokens as the cache that the text's tokens attend to; empty for the other methods.

    Those of Prefix-layer are keys and values already; those of Prefix-embedding are read by the model, as if they were
    words.
    """
    wrapped: Any = adapted.model
    if not adapted.method.has_virtual_tokens:
        return Opening(DynamicCache(), 0)
    length = adapted.spec.prefix_length
    prompt = wrapped.get_prompt(batch_size=rows)
    if not isinstance(prompt, Tensor):
        cache = prompt if isinstance(prompt, DynamicCache) else DynamicCache(prompt)
        return Opening(cache, length)
    given = adapted.fork(inputs_embeds=prompt, past_key_values=DynamicCache(), use_cache=True)
    return Opening(given.past_key_values, length)


def write(
    adapted: Adapted, prompts: Sequence[Sequence[int]], most: int = LONGEST_TEXT, stopped: Callable[[], bool] = never
) -> list[str]:
    """Generate a text for each prompt greedily, up to its end. Raises StoppedError."""
    texts = [""] * len(prompts)
    # Prompts of like length together, so that little is padded.
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    batches = [order[start : start + ROWS_AT_ONCE] for start in range(0, len(order), ROWS_AT_ONCE)]
    for batch in unless_stopped(batches, stopped):
        room = adapted.longest - max(len(prompts[place]) for place in batch)
        written = [list[int]() for _ in batch]
        for step in _steps(adapted, [prompts[place] for place in batch], min(most, room), stopped):
            for row, token in zip(written, step, strict=True):
                row.append(token)
        for place, row in zip(batch, written, strict=True):
            texts[place] = text_of(adapted.loaded, row)
    return texts


def text_of(loaded: LoadedModel, ids: Sequence[int]) -> str:
    """Return the text before its end token, without spaces around it."""
    end = end_of(loaded)
    known = list(ids[: ids.index(end)]) if end in ids else list(ids)
    return " ".join(str(loaded.tokenizer.decode(known, skip_special_tokens=True)).split())


@torch.no_grad()
def _steps(
    adapted: Adapted, prompts: Sequence[Sequence[int]], most: int, stopped: Callable[[], bool]
) -> Iterator[list[int]]:
    """Yield one token a row, until all rows have ended. Prompts are padded on the left, so that all texts begin at one
    place.
    """
    device, end = adapted.loaded.device, end_of(adapted.loaded)
    longest = max(map(len, prompts))
    gaps = [longest - len(prompt) for prompt in prompts]
    ids = torch.tensor([[end] * gap + list(prompt) for gap, prompt in zip(gaps, prompts, strict=True)], device=device)
    opening = opening_of(adapted, len(prompts))
    seen = torch.ones(len(prompts), opening.length + longest, dtype=torch.long, device=device)
    for row, gap in enumerate(gaps):
        seen[row, opening.length : opening.length + gap] = 0
    positions = (seen.cumsum(-1) - 1).clamp(min=0)[:, opening.length :]  # positions count only what is not padding
    over = torch.zeros(len(prompts), dtype=torch.bool, device=device)
    for _ in range(most):
        if stopped() or bool(over.all()):
            return
        with precision(device, adapted.loaded.architecture):
            output = adapted.fork(
                input_ids=ids,
                attention_mask=seen,
                position_ids=positions,
                past_key_values=opening.cache,
                use_cache=True,
                logits_to_keep=1,
            )
        # A row that is over repeats its end token.
        chosen = output.logits[:, -1].float().argmax(-1).masked_fill(over, end)
        over |= chosen == end
        yield chosen.tolist()
        ids, positions = chosen[:, None], positions[:, -1:] + 1
        seen = torch.cat([seen, torch.ones_like(ids)], dim=1)
