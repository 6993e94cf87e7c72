"""BLEU (Papineni et al. 2002) as mteval-v13a computes it: BP · (p1 p2 p3 p4)^(1/4), over the corpus.

p_n is the share of the hypotheses' n-grams that are in a reference, each credited at most as often as one reference has
it. BP = exp(1 − r/c) if the hypotheses' c words are fewer than r, the sum of the closest references' lengths.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.tasks.generation_metrics.words import Ngram, counted, most_in_one, ngrams

ORDERS = 4


@dataclass(frozen=True)
class Matched:
    """An n-gram of one hypothesis: its count there, and its largest count in one reference."""

    ngram: Ngram
    count: int
    allowed: int

    @property
    def credited(self) -> int:
        """The clipped count."""
        return min(self.count, self.allowed)


@dataclass(frozen=True)
class BleuParts:
    """BLEU in its parts. matched, of_all: for each order from 1. precisions: smoothed where nothing matches. length,
    closest: in words.
    """

    matched: tuple[int, ...]
    of_all: tuple[int, ...]
    length: int
    closest: int
    precisions: tuple[float, ...]
    brevity: float
    value: float


@dataclass(frozen=True)
class BleuSentence:
    """One hypothesis in its parts. covered: for each order, the positions of its words that a credited n-gram covers."""

    words: Ngram
    parts: BleuParts
    found: tuple[Matched, ...]
    covered: tuple[frozenset[int], ...]


def bleu(hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]]) -> BleuParts:
    """Return BLEU of the corpus; its value is from 0 to 1."""
    counts = [
        _counts(words, most_in_one(group, ORDERS), group) for words, group in zip(hypotheses, references, strict=True)
    ]
    return _scored(counts)


def bleu_of_one(words: Ngram, references: Sequence[Ngram]) -> BleuSentence:
    """Return BLEU of one sentence alone, smoothed as in mteval if an order has no match."""
    allowed = most_in_one(references, ORDERS)
    found = tuple(Matched(one, count, allowed[one]) for one, count in counted(words, ORDERS).items())
    covered = tuple(_covered(words, order, allowed) for order in range(1, ORDERS + 1))
    return BleuSentence(words, _scored([_counts(words, allowed, references)]), found, covered)


def _counts(words: Ngram, allowed: Counter[Ngram], group: Sequence[Ngram]) -> tuple[list[int], list[int], int, int]:
    """Return matched and all n-grams of each order, the number of words, and the length of the closest reference."""
    credited = counted(words, ORDERS) & allowed
    matched = [0] * ORDERS
    for one, count in credited.items():
        matched[len(one) - 1] += count
    of_all = [max(0, len(words) - order) for order in range(ORDERS)]
    # Of two that are as close the shorter.
    return matched, of_all, len(words), min(map(len, group), key=lambda length: (abs(length - len(words)), length))


def _scored(counts: Iterable[tuple[list[int], list[int], int, int]]) -> BleuParts:
    matched, of_all, lengths, closest = (list(column) for column in zip(*counts, strict=True))
    right, every = ([sum(column) for column in zip(*rows, strict=True)] for rows in (matched, of_all))
    length, nearest = sum(lengths), sum(closest)
    precisions, halved = [], 1.0
    for hits, total in zip(right, every, strict=True):
        halved = (
            halved * 2 if total and not hits else halved
        )  # the first order without a match counts half a one, and so on
        # The logarithm of an order without n-grams is 0.
        precisions.append(1.0 if not total else hits / total if hits else 1 / (halved * total))
    brevity = math.exp(min(0.0, 1 - nearest / length)) if length else 0.0
    value = brevity * math.exp(sum(map(math.log, precisions)) / ORDERS)
    return BleuParts(tuple(right), tuple(every), length, nearest, tuple(precisions), brevity, value)


def _covered(words: Ngram, order: int, allowed: Counter[Ngram]) -> frozenset[int]:
    """Return the positions that credited n-grams cover, credited from the left."""
    left, places = Counter(allowed), set()
    for start, one in enumerate(ngrams(words, order)):
        if left[one]:
            left[one] -= 1
            places |= set(range(start, start + order))
    return frozenset(places)
