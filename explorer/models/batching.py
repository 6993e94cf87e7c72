"""Several inputs in one forward pass, each with the answer that it would have alone; and the tokens of a text, each masked in
turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from explorer.errors import ExplorerError
from explorer.maths.pseudo_likelihood import log_probability_of, masked_in_turn
from explorer.models.encoding import Encoded
from explorer.models.families import Capability
from explorer.models.heads import head_at
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel

MOST_TOKENS = 512
"""Tokens of one pass at most, padding included: no more than one long text has."""

MOST_PADDING = 0.5
"""The largest share of padding in a pass.

A pass over few tokens takes most of its time to read the weights, once for all rows: with bert-small on two cores a
question of 12 tokens takes 44 ms alone, and 20, 14, 10 and 9 ms among 2, 4, 8 and 16. Of 8 to 24 tokens, with padding
up to half, 16 take 14 ms each, and 41 ms alone.
"""

Inputs = dict[str, Tensor]
"""A model's keyword tensors."""

CHOSEN = "chosen"
"""The key of a mask among the inputs, if a head's scores are wanted at some positions alone."""

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")
Output = TypeVar("Output")


def padded(rows: Sequence[Inputs], pad_token_id: int) -> Inputs:
    """Return one batch of inputs, each (1, length)."""
    # Padded here, since a tokenizer that pads cannot be shared by threads.
    return {
        name: pad_sequence(
            [row[name][0] for row in rows],
            batch_first=True,
            padding_value=pad_token_id if name == "input_ids" else 0,
        )
        for name in rows[0]
    }


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield batches of indices, texts of like lengths together and the shortest first."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        size = (len(batch) + 1) * lengths[place]  # all rows are padded to this one, the longest so far
        tokens = sum(lengths[one] for one in batch) + lengths[place]
        if batch and (size > MOST_TOKENS or size - tokens > MOST_PADDING * size):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def outputs_of_each(
    loaded: LoadedModel, rows: Sequence[Inputs], run: Callable[[Inputs, list[int]], Iterable[Output]]
) -> list[Output]:
    """Return a model's output for each input, in as few passes as possible.

    run: takes a batch, on the model's device, and the lengths of its rows without padding, and returns what is kept of
    each row.
    """
    lengths = [int(row["input_ids"].shape[1]) for row in rows]
    outputs: dict[int, Output] = {}
    for batch in batches(lengths):
        alike = len({lengths[place] for place in batch}) == 1
        # A model whose tokenizer marks no padding would read it as text, so it gets inputs of one length only.
        for places in [batch] if alike or "attention_mask" in rows[batch[0]] else [[place] for place in batch]:
            inputs = padded([rows[place] for place in places], int(loaded.tokenizer.pad_token_id or 0))
            on_device = {name: tensor.to(loaded.device) for name, tensor in inputs.items()}
            outputs |= zip(places, run(on_device, [lengths[place] for place in places]), strict=True)
    return [outputs[place] for place in range(len(rows))]


def logits_at(loaded: LoadedModel, capability: Capability, rows: Sequence[Inputs]) -> list[Tensor]:
    """Return the logits of a head that reads each token, at the positions of each input that its CHOSEN, (1, length)
    bool, names: (positions, classes), float32.
    """
    tree = _tree(loaded)

    def run(inputs: Inputs, lengths: list[int]) -> Iterable[Tensor]:
        chosen = inputs.pop(CHOSEN)
        # Over all positions the product with the vocabulary takes half as long again as the layers.
        with head_at(tree, chosen):
            logits = loaded.logits(capability, tree(**inputs))[0].float()
        return list(logits.split(chosen.sum(1).tolist()))

    return outputs_of_each(loaded, rows, run)


def logits_of_texts(loaded: LoadedModel, capability: Capability, rows: Sequence[Inputs]) -> list[Tensor]:
    """Return the logits of a head that reads a whole text, for each input: (classes,), float32."""
    tree = _tree(loaded)

    def run(inputs: Inputs, lengths: list[int]) -> Iterable[Tensor]:
        with _first_alone(tree, loaded):
            return loaded.logits(capability, tree(**inputs)).float()

    return outputs_of_each(loaded, rows, run)


def attentions_of_each(loaded: LoadedModel, rows: Sequence[Inputs]) -> list[tuple[Tensor, ...]]:
    """Return each input's attention weights: depth tensors (heads, length, length)."""
    tree = _tree(loaded, "eager")

    def run(inputs: Inputs, lengths: list[int]) -> Iterable[tuple[Tensor, ...]]:
        with _first_alone(tree, loaded):
            layers = tree(**inputs, output_attentions=True).attentions
        return [tuple(layer[row, :, :length, :length] for layer in layers) for row, length in enumerate(lengths)]

    return outputs_of_each(loaded, rows, run)


def states_of_each(loaded: LoadedModel, rows: Sequence[Inputs]) -> list[Tensor]:
    """Return each input's states in every layer, the embeddings' output first: (depth + 1, length, width), float32, on
    the processor.
    """
    tree = _tree(loaded)

    def run(inputs: Inputs, lengths: list[int]) -> Iterable[Tensor]:
        states = torch.stack(tree(**inputs, output_hidden_states=True).hidden_states).float().cpu()
        return [states[:, row, :length] for row, length in enumerate(lengths)]

    return outputs_of_each(loaded, rows, run)


_TREES = threading.local()
"""Each thread's own modules of the models that it has asked, by the implementation of attention."""


def _tree(loaded: LoadedModel, attention: str = "") -> PreTrainedModel:
    """Return the model in modules of this thread's own, since head_at hooks them: to make them takes 5 ms with bert-small.

    attention: the implementation that it computes with, if not the model's own.
    """
    model, way = loaded.model, attention or str(loaded.model.config._attn_implementation)
    trees: WeakKeyDictionary[PreTrainedModel, PreTrainedModel] = _TREES.__dict__.setdefault(way, WeakKeyDictionary())
    tree = trees.get(model)
    if tree is None or any(mine is not theirs for mine, theirs in zip_longest(tree.parameters(), model.parameters())):
        tree = trees[model] = private_tree(model, way)
    return tree


def _first_alone(tree: PreTrainedModel, loaded: LoadedModel) -> AbstractContextManager[object]:
    """Let heads that read each token read a text's first one only, since their scores are not wanted."""
    return head_at(tree, torch.tensor([0], device=loaded.device))


def each_or_its_error(do: Callable[[Asked], Answer], asked: Sequence[Asked]) -> list[Answer | ExplorerError]:
    """Return the result for each, or the ExplorerError of those that fail, which leaves the others alone."""
    answers: list[Answer | ExplorerError] = []
    for one in asked:
        try:
            answers.append(do(one))
        except ExplorerError as error:
            answers.append(error)
    return answers


def answered_together(
    asked: Sequence[Asked],
    prepare: Callable[[Asked], tuple[Sequence[Inputs], Callable[[Sequence[Output]], Answer]]],
    outputs: Callable[[list[Inputs]], list[Output]],
) -> list[Answer | ExplorerError]:
    """Return the answers to several questions, or their errors.

    prepare: takes a question and returns what the model reads for it (nothing if it needs no model), and a function
    that turns the model's outputs into the answer. outputs: returns the model's output for each of all inputs.
    """
    prepared = each_or_its_error(prepare, asked)
    rows = [inputs for one in prepared if not isinstance(one, ExplorerError) for inputs in one[0]]
    found = iter(outputs(rows) if rows else ())

    # Takes its share of the outputs, in the order of the questions.
    def finish(one: tuple[Sequence[Inputs], Callable[[Sequence[Output]], Answer]] | ExplorerError) -> Answer:
        if isinstance(one, ExplorerError):
            raise one
        inputs, answer = one
        return answer([next(found) for _ in inputs])

    return each_or_its_error(finish, prepared)


def alone(answers: Sequence[Answer | ExplorerError]) -> Answer:
    """Return the answer of a question that was asked by itself, or raise its error."""
    [answer] = answers
    if isinstance(answer, ExplorerError):
        raise answer
    return answer


CHUNK_TOKENS = 1024
"""Tokens in one forward pass."""


@dataclass(frozen=True)
class InTurn:
    """One token while it is masked: ln p of the true one, and the id of the likeliest."""

    position: int
    log_probability: float
    likeliest: int


def in_turn(
    loaded: LoadedModel,
    encoded: Encoded,
    rest_of_word: bool,
    words: Sequence[int | None] | None = None,
    tree: PreTrainedModel | None = None,
) -> list[InTurn]:
    """Mask every token that belongs to a word in turn. Raises MissingCapabilityError.

    rest_of_word: the pieces after the token in its own word are masked with it (Kauf and Ivanova 2023). words: the word
    of each position, None for positions that are left out; by default every word. tree: a private tree of the model's,
    for callers with many texts.
    """
    loaded.require(Capability.MLM)
    ids = encoded.input_ids
    mask_id = int(loaded.tokenizer.mask_token_id)
    rows, positions = masked_in_turn(ids, words or encoded.word_ids, mask_id, rest_of_word)
    if not positions:
        return []
    at, found = torch.tensor(positions), list[InTurn]()
    step = max(1, CHUNK_TOKENS // rows.shape[1])
    tree = tree or private_tree(loaded.model)
    for chunk, places in zip(rows.split(step), at.split(step), strict=True):
        shared = {name: tensor.expand(len(chunk), -1) for name, tensor in encoded.inputs.items()}
        inputs = {name: tensor.to(loaded.device) for name, tensor in {**shared, "input_ids": chunk}.items()}
        chosen = torch.zeros(chunk.shape, dtype=torch.bool)
        chosen[torch.arange(len(chunk)), places] = True
        # One masked position in each row: the product with the vocabulary is computed there alone.
        with head_at(tree, chosen.to(loaded.device)):
            logits = loaded.logits(Capability.MLM, tree(**inputs))[0].float()
        true = log_probability_of(logits.log_softmax(-1).cpu(), ids[places])
        found += map(InTurn, places.tolist(), true.tolist(), logits.argmax(-1).tolist())
    return found
