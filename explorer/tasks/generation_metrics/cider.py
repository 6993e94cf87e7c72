"""CIDEr (Vedantam et al. 2015) as coco-caption's `Cider` computes it, which is CIDEr-D of their section 6: 0 to 10.

An n-gram's weight is its count times ln(groups / groups with a reference that has it). For each order, 1 to 4, and each
reference it takes the cosine of hypothesis and reference, where no n-gram counts more than in the reference, times
exp(−d²/2σ²), σ = 6; then the mean of all, times 10. d is the difference of the lengths, which coco-caption counts in
pairs of words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorer.tasks.generation_metrics.words import Ngram, counted

ORDERS = 4
SIGMA = 6.0
TIMES = 10.0


@dataclass(frozen=True)
class Weighed:
    """An n-gram of a hypothesis: its count, in how many groups a reference has it, its weight here and in each reference."""

    ngram: Ngram
    count: int
    groups: int
    weight: float
    there: tuple[float, ...]


@dataclass(frozen=True)
class Compared:
    """One reference. cosines: for each order, before the length factor. difference: of the lengths."""

    words: Ngram
    cosines: tuple[float, ...]
    difference: int
    factor: float


@dataclass(frozen=True)
class CiderSentence:
    """One hypothesis in its parts. groups: how many the corpus has."""

    words: Ngram
    found: tuple[Weighed, ...]
    references: tuple[Compared, ...]
    groups: int
    value: float


class Rarity:
    """Counts in how many groups of references each n-gram occurs."""

    def __init__(self, references: Sequence[Sequence[Ngram]]) -> None:
        self.groups: Counter[Ngram] = Counter()
        for group in references:
            self.groups.update({one for words in group for one in counted(words, ORDERS)})
        self.count = len(references)

    def of(self, one: Ngram) -> float:
        """Return the inverse document frequency; an n-gram that no reference has counts as if one had it."""
        return math.log(self.count / max(1, self.groups[one]))


Vector = tuple[Mapping[Ngram, float], list[float]]
"""The weights of a text's n-grams, and for each order the length of their vector."""


def cider(hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]], rarity: Rarity) -> float:
    """Return CIDEr, the mean over the sentences."""
    values = []
    for words, group in zip(hypotheses, references, strict=True):
        here = _vector(words, rarity)
        values.append(_value([_compared(words, here, one, _vector(one, rarity)) for one in group]))
    return sum(values) / len(values)


def cider_of_one(words: Ngram, references: Sequence[Ngram], rarity: Rarity) -> CiderSentence:
    """Return CIDEr of one sentence; the weights are those of the whole corpus."""
    here, there = _vector(words, rarity), [_vector(one, rarity) for one in references]
    compared = tuple(_compared(words, here, one, vector) for one, vector in zip(references, there, strict=True))
    found = tuple(
        Weighed(one, count, rarity.groups[one], here[0][one], tuple(vector[0].get(one, 0.0) for vector in there))
        for one, count in counted(words, ORDERS).items()
    )
    return CiderSentence(words, found, compared, rarity.count, _value(compared))


def _vector(words: Ngram, rarity: Rarity) -> Vector:
    weights = {one: count * rarity.of(one) for one, count in counted(words, ORDERS).items()}
    squares = [0.0] * ORDERS
    for one, weight in weights.items():
        squares[len(one) - 1] += weight**2
    return weights, [math.sqrt(square) for square in squares]


def _compared(words: Ngram, here: Vector, reference: Ngram, there: Vector) -> Compared:
    products = [0.0] * ORDERS
    for one, weight in here[0].items():
        if other := there[0].get(one):
            products[len(one) - 1] += min(weight, other) * other  # clipped at the reference's weight (CIDEr-D)
    sizes = [first * second for first, second in zip(here[1], there[1], strict=True)]
    cosines = tuple(product / size if size else 0.0 for product, size in zip(products, sizes, strict=True))
    difference = max(0, len(words) - 1) - max(0, len(reference) - 1)  # pairs of words: one fewer than words
    return Compared(reference, cosines, difference, math.exp(-(difference**2) / (2 * SIGMA**2)))


def _value(compared: Iterable[Compared]) -> float:
    means = [one.factor * sum(one.cosines) / ORDERS for one in compared]
    return TIMES * sum(means) / len(means)
