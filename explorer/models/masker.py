"""Hides tokens of rows as pretraining does, whatever the tokenizer and the scheme."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.maths.corruption import Corruption, CorruptionRecipe, corrupt
from explorer.models.encoding import replacement_ids


class Masker:
    """Corrupts rows of tokens. Special tokens, [UNK] among them, are never chosen and never a replacement."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self.special = frozenset(tokenizer.all_special_ids)
        self.mask: int | None = tokenizer.mask_token_id
        self.replacements = replacement_ids(tokenizer)

    def corrupt(
        self,
        ids: Sequence[int] | Tensor,
        recipe: CorruptionRecipe,
        generator: torch.Generator,
        words: Sequence[int | None] | None = None,
    ) -> Corruption:
        """Corrupt one row, (length,). words: the word of each token if it is known, None for tokens that are never chosen."""
        ids = torch.as_tensor(ids)
        words = self.words(ids.tolist()) if words is None else words
        mask = self.mask if recipe.mask_share else 0  # not shown where nothing becomes a mask
        assert mask is not None, "this tokenizer has no mask token"
        return corrupt(ids, words, recipe, mask, self.replacements, generator)

    def words(self, ids: Sequence[int]) -> list[int | None]:
        """Return the word of each token by how its pieces are spelt, None for special tokens."""
        words: list[int | None] = []
        word = -1
        for token_id in ids:
            word += not self._continues[token_id]
            words.append(None if token_id in self.special else word)
        return words

    @cached_property
    def _continues(self) -> tuple[bool, ...]:
        """Whether each token of the vocabulary continues the word before it."""
        names = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        # WordPiece marks what continues a word (##), byte-level and unigram vocabularies mark what begins one (Ġ, ▁);
        # in these two a piece without a letter or digit is a word of its own, as in ALBERT's code.
        if any(name.startswith("##") for name in names):
            return tuple(name.startswith("##") for name in names)
        return tuple(not name.startswith(("Ġ", "▁")) and any(map(str.isalnum, name)) for name in names)
