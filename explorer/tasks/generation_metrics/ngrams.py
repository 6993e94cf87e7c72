"""N-grams of words: counted, and matched against several references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

Ngram = tuple[str, ...]


def ngrams(words: Sequence[str], order: int) -> list[Ngram]:
    """Return every run of `order` words, from the left."""
    return list(zip(*(words[start:] for start in range(order)), strict=False))


def counted(words: Sequence[str], orders: int) -> Counter[Ngram]:
    """Count each run of 1 to `orders` words in a text."""
    return Counter(one for order in range(1, orders + 1) for one in ngrams(words, order))


def most_in_one(references: Iterable[Sequence[str]], orders: int) -> Counter[Ngram]:
    """Return each n-gram's count in the reference that has it most often: what a hypothesis can be credited with."""
    most: Counter[Ngram] = Counter()
    for words in references:
        most |= counted(words, orders)  # Counter's | keeps the larger count
    return most
