"""Several inputs in one forward pass, each with the answer that it would have alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explorer.errors import ExplorerError
from explorer.models.bundle import Bundle
from explorer.models.families import Capability

MOST_TOKENS = 512
"""Tokens of one pass, padding included: no more than one long text has."""

MOST_PADDING = 0.5
"""How much of a pass may be padding. A pass over few tokens takes most of its time to read the weights, once for all rows:
with bert-small on two cores a question of 12 tokens takes 44 ms alone, 20, 14, 10 and 9 ms among 2, 4, 8 and 16. Of 8 to 24
tokens, with padding up to half, 16 take 14 ms each, and 41 ms alone."""

OF_A_TEXT = (Capability.NSP, Capability.SOP)
"""Heads that read a whole text; the others read each of its tokens."""

Inputs = dict[str, Tensor]
"""A model's keyword tensors."""

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


def padded(rows: Sequence[Inputs], pad_token_id: int) -> Inputs:
    """One batch of inputs (each (1, length)); padded here, since a tokenizer that pads cannot be shared by threads."""
    return {
        name: pad_sequence(
            [row[name][0] for row in rows],
            batch_first=True,
            padding_value=pad_token_id if name == "input_ids" else 0,
        )
        for name in rows[0]
    }


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of like lengths together, shortest first."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        size = (len(batch) + 1) * lengths[place]
        tokens = sum(lengths[one] for one in batch) + lengths[place]
        if batch and (size > MOST_TOKENS or size - tokens > MOST_PADDING * size):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def logits_of_each(bundle: Bundle, capability: Capability, rows: Sequence[Inputs]) -> list[Tensor]:
    """One head's logits for each input, (length, …) or (classes,) where the head reads a whole text; float32.

    A model whose tokenizer marks no padding reads inputs of one length together only.
    """
    lengths = [int(row["input_ids"].shape[1]) for row in rows]
    logits: dict[int, Tensor] = {}
    for batch in batches(lengths):
        alike = len({lengths[place] for place in batch}) == 1
        for places in [batch] if alike or "attention_mask" in rows[batch[0]] else [[place] for place in batch]:
            inputs = padded([rows[place] for place in places], int(bundle.tokenizer.pad_token_id or 0))
            output = bundle.model(**{name: tensor.to(bundle.device) for name, tensor in inputs.items()})
            scores = bundle.logits(capability, output).float()
            for place, own in zip(places, scores, strict=True):
                logits[place] = own if capability in OF_A_TEXT else own[: lengths[place]]
    return [logits[place] for place in range(len(rows))]


def each_or_its_error(do: Callable[[Asked], Answer], asked: Sequence[Asked]) -> list[Answer | ExplorerError]:
    """What is done with each, or the error that says what is wrong with it, which is no matter of its neighbours."""
    answers: list[Answer | ExplorerError] = []
    for one in asked:
        try:
            answers.append(do(one))
        except ExplorerError as error:
            answers.append(error)
    return answers


def answered_together(
    bundle: Bundle,
    capability: Capability,
    asked: Sequence[Asked],
    prepare: Callable[[Asked], tuple[Inputs | None, Callable[[Tensor | None], Answer]]],
) -> list[Answer | ExplorerError]:
    """The answers to several questions, or their errors, with as few forward passes as there can be.

    prepare: a question's inputs, or None where it needs no model, and what makes the answer of the logits.
    """
    prepared = each_or_its_error(prepare, asked)
    rows = {
        place: one[0] for place, one in enumerate(prepared) if not isinstance(one, ExplorerError) and one[0] is not None
    }
    logits = dict(zip(rows, logits_of_each(bundle, capability, list(rows.values())), strict=True))

    def finish(place: int) -> Answer:
        one = prepared[place]
        if isinstance(one, ExplorerError):
            raise one
        return one[1](logits.get(place))

    return each_or_its_error(finish, range(len(asked)))


def alone(answers: Sequence[Answer | ExplorerError]) -> Answer:
    """The one answer of a question that was asked for itself; raises its error."""
    [answer] = answers
    if isinstance(answer, ExplorerError):
        raise answer
    return answer
