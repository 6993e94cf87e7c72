"""From rows to the tensors of one training step: padding, and the tokens that a masked language model must predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.maths.corruption import IGNORED_LABEL, CorruptionRecipe, corrupt
from pretraining.rows import Row


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
    tokenizer: PreTrainedTokenizerBase,
    replacement_ids: Tensor,
    generator: torch.Generator,
) -> Batch:
    """Pad rows to the longest of them and corrupt each by `recipe`; words are grouped by how their pieces are spelt.

    replacement_ids: the ids that a random replacement is drawn from. A rate of 0 leaves every row as it is.
    """
    length = max(len(row.input_ids) for row in rows)
    padding = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    shape = (len(rows), length)
    input_ids = torch.full(shape, int(padding))
    token_type_ids = torch.zeros(shape, dtype=torch.long)
    attention_mask = torch.zeros(shape, dtype=torch.long)
    labels = torch.full(shape, IGNORED_LABEL)
    for number, row in enumerate(rows):
        size = len(row.input_ids)
        shown = torch.tensor(row.input_ids)
        if recipe.rate > 0:
            words = words_of_row(row.input_ids, tokenizer)
            corruption = corrupt(shown, words, recipe, int(tokenizer.mask_token_id), replacement_ids, generator)
            shown, labels[number, :size] = corruption.input_ids, corruption.labels
        input_ids[number, :size] = shown
        token_type_ids[number, :size] = torch.tensor(row.token_type_ids)
        attention_mask[number, :size] = 1
    pair_labels = torch.tensor([row.pair_label for row in rows])
    return Batch(input_ids, token_type_ids, attention_mask, labels, pair_labels)


def words_of_row(ids: list[int], tokenizer: PreTrainedTokenizerBase) -> list[int | None]:
    """The word of each token, None for special tokens."""
    special, continues = _spelling(tokenizer)
    words: list[int | None] = []
    word = -1
    for token_id in ids:
        word += not continues[token_id]
        words.append(None if token_id in special else word)
    return words


@lru_cache(maxsize=8)
def _spelling(tokenizer: PreTrainedTokenizerBase) -> tuple[frozenset[int], tuple[bool, ...]]:
    """The special tokens, and for each token whether it continues the word before it.

    WordPiece marks what continues a word (##), byte-level and unigram vocabularies mark what begins one (Ġ, ▁); in these
    two a piece without a letter or digit is a word of its own, as in ALBERT's code.
    """
    names = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    if any(name.startswith("##") for name in names):
        continues = tuple(name.startswith("##") for name in names)
    else:
        continues = tuple(not name.startswith(("Ġ", "▁")) and any(map(str.isalnum, name)) for name in names)
    return frozenset(tokenizer.all_special_ids), continues
