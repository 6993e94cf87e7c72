"""NIST (Doddington 2002) as the E2E challenge's mteval-v13a computes it: rare n-grams count more, orders 1 to 5 are
summed.

info(w1 … wn) = log2(count(w1 … wn−1) / count(w1 … wn)) over all references; for a single word, the number of all words
divided by its count. The length penalty is exp(β ln²(min(1, c/r))), with β such that 2/3 of the length halves the
score; r is the references' words divided by the mean number of references: the challenge's own change, equal to
mteval's if all groups have the same number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.tasks.generation_metrics.words import Ngram, counted, most_in_one

ORDERS = 5
BETA = math.log(0.5) / math.log(1.5) ** 2


@dataclass(frozen=True)
class Informed:
    """An n-gram of a hypothesis that a reference has: its clipped count, and the counts behind its information."""

    ngram: Ngram
    credited: int
    before: int
    count: int
    info: float


@dataclass(frozen=True)
class NistParts:
    """NIST in its parts. information, of_all: sums and n-grams for each order from 1. length, mean_length: in words."""

    information: tuple[float, ...]
    of_all: tuple[int, ...]
    length: int
    mean_length: float
    penalty: float
    value: float


@dataclass(frozen=True)
class NistSentence:
    """One hypothesis in its parts; the information is that of the whole corpus."""

    words: Ngram
    parts: NistParts
    found: tuple[Informed, ...]


class Information:
    """The information of each n-gram, from all references."""

    def __init__(self, references: Iterable[Sequence[Ngram]]) -> None:
        self.counts: Counter[Ngram] = Counter()
        for group in references:
            for words in group:
                self.counts.update(counted(words, ORDERS))
        # What precedes a single word: the number of all words.
        self.counts[()] = sum(count for one, count in self.counts.items() if len(one) == 1)

    def of(self, one: Ngram) -> float:
        """Return the information in bits, of an n-gram that some reference has."""
        return math.log2(self.counts[one[:-1]] / self.counts[one])


def nist(hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]], known: Information) -> NistParts:
    """Return NIST of the corpus."""
    found = [_found(words, group, known) for words, group in zip(hypotheses, references, strict=True)]
    return _scored(found, hypotheses, references)


def nist_of_one(words: Ngram, references: Sequence[Ngram], known: Information) -> NistSentence:
    """Return NIST of one sentence alone, with the corpus's information."""
    found = _found(words, references, known)
    return NistSentence(words, _scored([found], [words], [references]), tuple(found))


def _found(words: Ngram, group: Sequence[Ngram], known: Information) -> list[Informed]:
    credited = counted(words, ORDERS) & most_in_one(group, ORDERS)
    counts = known.counts
    return [Informed(one, times, counts[one[:-1]], counts[one], known.of(one)) for one, times in credited.items()]


def _scored(
    found: Iterable[Sequence[Informed]], hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]]
) -> NistParts:
    sums = [0.0] * ORDERS
    for entries in found:
        for entry in entries:
            sums[len(entry.ngram) - 1] += entry.credited * entry.info
    of_all = [sum(max(0, len(words) - order) for words in hypotheses) for order in range(ORDERS)]
    length = of_all[0]
    mean_length = sum(map(len, (one for group in references for one in group))) / (
        sum(map(len, references)) / len(references)
    )
    ratio = min(1.0, length / mean_length) if mean_length else 1.0
    penalty = math.exp(BETA * math.log(ratio) ** 2) if ratio > 0 else 0.0
    value = penalty * sum(total / max(count, 1) for total, count in zip(sums, of_all, strict=True))
    return NistParts(tuple(sums), tuple(of_all), length, mean_length, penalty, value)
