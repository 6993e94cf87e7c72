"""Turns rows into the tensors of one training step: padding, and the tokens that a masked language model must predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe
from explorer.models.hiding import Masker
from explorer.objectives.rows import Row


@dataclass(frozen=True)
class Batch:
    """Tensors of shape (rows, length), but for `pair_labels` (rows,).

    input_ids are what the model sees; labels hold the true token where it must predict one, IGNORED_LABEL elsewhere.
    """

    input_ids: Tensor
    token_type_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    pair_labels: Tensor

    @property
    def original_ids(self) -> Tensor:
        """The text before its corruption: (rows, length)."""
        return torch.where(self.labels >= 0, self.labels, self.input_ids)

    @property
    def padded(self) -> bool:
        """Whether any row is shorter than the longest."""
        return bool((self.attention_mask == 0).any())

    @property
    def paired(self) -> bool:
        """Whether its rows are pairs with a class."""
        return bool((self.pair_labels >= 0).any())


def collate(
    rows: list[Row],
    recipe: CorruptionRecipe,
    masker: Masker,
    generator: torch.Generator | Sequence[torch.Generator],
) -> Batch:
    """Pad rows to the longest of them and corrupt each by `recipe`; a rate of 0 leaves every row unchanged.

    generator: one for all rows in turn, or one for each row.
    """
    drawn = [generator] * len(rows) if isinstance(generator, torch.Generator) else generator
    length = max(len(row.input_ids) for row in rows)
    tokenizer = masker.tokenizer
    # GPT-2 has no padding token.
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    shape = (len(rows), length)
    input_ids = torch.full(shape, int(padding))
    token_type_ids = torch.zeros(shape, dtype=torch.long)
    attention_mask = torch.zeros(shape, dtype=torch.long)
    labels = torch.full(shape, IGNORED_LABEL)
    for number, (row, chance) in enumerate(zip(rows, drawn, strict=True)):
        size = len(row.input_ids)
        shown = torch.tensor(row.input_ids)
        if recipe.rate > 0:
            corruption = masker.corrupt(shown, recipe, chance)
            shown, labels[number, :size] = corruption.input_ids, corruption.labels
        input_ids[number, :size] = shown
        token_type_ids[number, :size] = torch.tensor(row.token_type_ids)
        attention_mask[number, :size] = 1
    pair_labels = torch.tensor([row.pair_label for row in rows])
    return Batch(input_ids, token_type_ids, attention_mask, labels, pair_labels)
