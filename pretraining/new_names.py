"""Rows whose names the model cannot know: to go on with such a name, it must copy what it has read.

Two attention heads in a row can do that: one finds what came before a token, the other looks for the place after an earlier
token like this one ("induction heads", Olsson et al. 2022). On text alone they grow only after far more of it than there is
here, since most names can be guessed from what is known of them; of invented ones nothing is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from explorer.objectives.rows import Row, RowMaker
from explorer.objectives.text import TextStore

SPACE = "Ġ"
"""How a byte-level vocabulary writes the space before a word."""
SHORTEST = 3
"""Letters of a name's first piece; "I" and "Mr" are no names."""
TWO_WORDS, LONGER = 0.4, 0.6
"""How many invented names are two words, and how many words have a second piece."""


class NewNames:
    """Draws rows of running text in which every name that comes again is replaced by an invented one, each time the same.

    counts: how often each token occurs in the text, (vocabulary,). A word counts as a name if it is written with a capital
    more often than without.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, counts: Tensor) -> None:
        vocabulary = tokenizer.get_vocab()
        words = {token[1:]: number for token, number in vocabulary.items() if token.startswith(SPACE)}
        self.capitals = [
            number
            for word, number in words.items()
            if len(word) >= SHORTEST and word.isalpha() and word[0].isupper() and word[1:].islower()
        ]
        lower = {number: counts[words[word.lower()]] for word, number in words.items() if word.lower() in words}
        self.names = {number for number in self.capitals if counts[number] > lower.get(number, 0)}
        self.large = {number for word, number in words.items() if word[:1].isupper()}
        self.pieces = [number for token, number in vocabulary.items() if token.isalpha() and token.islower()]
        self.within = set(self.pieces)

    def row(self, maker: RowMaker, store: TextStore, length: int, rng: np.random.Generator) -> Row:
        """Draw a row of `length` tokens."""
        words = list(self._words(maker.running(store, length, rng).input_ids))
        again = [word for word, count in Counter(words).items() if count > 1 and self.is_name(word)]
        new = {word: self.invented(rng) for word in again}
        ids = [token for word in words for token in new.get(word, word)]
        # An invented name may be shorter than the one it stands for; the text goes on then.
        return Row((ids + maker.running(store, length, rng).input_ids)[:length], [0] * length)

    def _words(self, ids: list[int]) -> Iterator[tuple[int, ...]]:
        word: list[int] = []
        for token in ids:
            if word and token not in self.within:
                yield tuple(word)
                word = []
            word.append(token)
        yield tuple(word)

    def is_name(self, word: tuple[int, ...]) -> bool:
        """Whether a word's first piece is a name, or begins a rare word that has a capital."""
        return word[0] in self.names or (len(word) > 1 and word[0] in self.large)

    def invented(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Draw a name of one or two words, each of one or two pieces."""
        name: list[int] = []
        for _ in range(1 + int(rng.random() < TWO_WORDS)):
            name.append(int(rng.choice(self.capitals)))
            if rng.random() < LONGER:
                name.append(int(rng.choice(self.pieces)))
        return tuple(name)


def twice(maker: RowMaker, store: TextStore, length: int, rng: np.random.Generator) -> Row:
    """Draw a row in which a passage comes twice, a separator after each time, and running text after that."""
    passage = [*maker.running(store, int(rng.integers(8, length // 2)), rng).input_ids, maker.sep_id]
    ids = [*passage, *passage, *maker.running(store, length, rng).input_ids]
    return Row(ids[:length], [0] * length)
