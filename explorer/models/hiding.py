"""Hides tokens: of rows as pretraining does, whatever the tokenizer and the scheme, and of a text those that a visitor names by
their positions, by a word, or by characters.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from functools import cached_property

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.charts.chips import TokenView
from explorer.errors import BadInputError
from explorer.maths.corruption import Corruption, CorruptionRecipe, corrupt
from explorer.models.encoding import Encoded, Token, replacement_ids
from explorer.models.loaded_model import LoadedModel


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


def hidden_positions(
    encoded: Encoded, text: str, places: Iterable[int | str], spans: Iterable[tuple[int, int]] = ()
) -> set[int]:
    """Return the positions that are named. places: positions, or words of the text. spans: (start, stop) characters.

    Raises BadInputError for a place that holds no token of the text.
    """
    positions: set[int] = set()
    for place in places:
        if isinstance(place, int):
            if place >= len(encoded.tokens) or encoded.tokens[place].word is None:
                raise BadInputError(f"Position {place} holds no token of the text, so it cannot be masked.")
            positions.add(place)
        else:
            start = _find_word(text, place)
            if start < 0:
                raise BadInputError(f"The text has no {place[:60]!r} to mask.")
            positions |= _overlapping(encoded, start, start + len(place))
    for start, stop in spans:
        positions |= _overlapping(encoded, start, stop)
    return positions


def _find_word(text: str, word: str) -> int:
    """Return where a word stands first, as a word of its own before as a part of another; -1 if it doesn't."""
    whole = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return whole.start() if whole else text.find(word)


def _overlapping(encoded: Encoded, start: int, stop: int) -> set[int]:
    return {t.position for t in encoded.tokens if t.word is not None and t.start < stop and t.stop > start}


def token_view(loaded: LoadedModel, token: Token, typed: Container[int], hidden: Container[int]) -> TokenView:
    """Return one token as a page offers it for hiding. typed: the positions of masks in the text itself."""
    if token.position in typed:
        state = "blank"
    elif token.position in hidden:
        state = "masked"
    else:
        state = "special" if token.word is None else "plain"
    unknown = token.token_id == loaded.tokenizer.unk_token_id
    return TokenView(token.position, token.text, token.shown, token.joined, state, unknown, token.start, token.stop)
