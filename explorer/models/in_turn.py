"""Masks each token of a text in turn: the probability of the true token, and the likeliest one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from transformers import PreTrainedModel

from explorer.maths.pseudo_likelihood import log_probability_of, masked_in_turn
from explorer.models.encoding import Encoded
from explorer.models.families import Capability
from explorer.models.heads import head_at
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel

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
