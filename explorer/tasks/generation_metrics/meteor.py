"""METEOR 1.5 for English (Denkowski and Lavie 2014), the version that the E2E challenge runs, without its paraphrase
tables.

P and R: the matched words' weights divided by all words' weights; a match weighs 1 (exact), 0.6 (stem) or 0.8
(synonym), a function word 1 − δ, any other δ = 0.75. F = PR / (αP + (1 − α)R), α = 0.85; penalty = γ
(chunks/matches)^β, γ = 0.6, β = 0.2, none if one chunk holds everything; METEOR = F (1 − penalty). Each sentence is
compared with its best reference; the corpus puts the sums of all counts into the same formula. Java's METEOR also
matches phrases of its table of paraphrases (weight 0.6).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from explorer.tasks.generation_metrics.alignment import Pair, align, chunks_of
from explorer.tasks.generation_metrics.ngrams import Ngram

_FUNCTION_WORDS = """
the , . to of and a in that for " is on 's it with was as said at he by be from have has are his but an this not i will ’ they
) -rrb- ( -lrb- who their had we which were been more or s its would about new one after you : also up when there than $ all
out her people she year two - can if last first “ over other ” into some what so -- no time years could ? 't — '
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""The English words that METEOR 1.5 takes for function words: each more than a thousandth of its authors' corpora."""


@dataclass(frozen=True)
class Weights:
    """METEOR's parameters. alpha: of precision. beta, gamma: of the penalty. delta: of content words. stages: of a
    match, as in STAGES.
    """

    alpha: float = 0.85
    beta: float = 0.2
    gamma: float = 0.6
    delta: float = 0.75
    stages: tuple[float, ...] = (1.0, 0.6, 0.8)


TUNED = Weights()
"""METEOR 1.5's parameters for ranking English, the challenge's choice."""


@dataclass(frozen=True)
class Counts:
    """The counts of the formula, of one sentence or summed. here, there: of hypothesis and reference, weighted as above."""

    here: float = 0.0
    there: float = 0.0
    matched_here: float = 0.0
    matched_there: float = 0.0
    words: int = 0
    matches: int = 0
    chunks: int = 0

    @property
    def whole(self) -> bool:
        """Whether every word is matched, in one chunk."""
        return self.chunks == 1 and 2 * self.matches == self.words

    def plus(self, other: Counts) -> Counts:
        """Return the sums; the chunk of a sentence that equals its reference doesn't count."""
        return Counts(
            self.here + other.here,
            self.there + other.there,
            self.matched_here + other.matched_here,
            self.matched_there + other.matched_there,
            self.words + other.words,
            self.matches + other.matches,
            self.chunks + (0 if other.whole else other.chunks),
        )


@dataclass(frozen=True)
class MeteorParts:
    """METEOR in its parts. words: of both texts. value: from 0 to 1."""

    precision: float
    recall: float
    mean: float
    words: int
    matches: int
    chunks: int
    penalty: float
    value: float


@dataclass(frozen=True)
class MeteorSentence:
    """One hypothesis with its best reference (`best`, from 0)."""

    words: Ngram
    reference: Ngram
    best: int
    pairs: tuple[Pair, ...]
    counts: Counts
    parts: MeteorParts


def meteor(hypotheses: Sequence[Ngram], references: Sequence[Sequence[Ngram]], weights: Weights = TUNED) -> MeteorParts:
    """Return METEOR of the corpus."""
    total = Counts()
    for words, group in zip(hypotheses, references, strict=True):
        total = total.plus(_best(words, group, weights)[2])
    return scored(total, weights)


def meteor_of_one(words: Ngram, references: Sequence[Ngram], weights: Weights = TUNED) -> MeteorSentence:
    """Return METEOR of one sentence."""
    place, pairs, counts = _best(words, references, weights)
    return MeteorSentence(words, references[place], place, pairs, counts, scored(counts, weights))


def _best(words: Ngram, group: Sequence[Ngram], weights: Weights) -> tuple[int, tuple[Pair, ...], Counts]:
    aligned = [(place, align(words, reference)) for place, reference in enumerate(group)]
    found = [(place, pairs, _counts(words, group[place], pairs, weights)) for place, pairs in aligned]
    return max(found, key=lambda one: scored(one[2], weights).value)


def _counts(words: Ngram, reference: Ngram, pairs: Sequence[Pair], weights: Weights) -> Counts:
    def weigh(some: Iterable[str]) -> list[float]:
        return [1 - weights.delta if word in FUNCTION_WORDS else weights.delta for word in some]

    here, there = weigh(words), weigh(reference)
    return Counts(
        sum(here),
        sum(there),
        sum(weights.stages[pair.stage] * here[pair.here] for pair in pairs),
        sum(weights.stages[pair.stage] * there[pair.there] for pair in pairs),
        len(words) + len(reference),
        len(pairs),
        chunks_of(pairs),
    )


def scored(counts: Counts, weights: Weights = TUNED) -> MeteorParts:
    """Apply the formula to counts."""
    precision = counts.matched_here / counts.here if counts.here else 0.0
    recall = counts.matched_there / counts.there if counts.there else 0.0
    below = weights.alpha * precision + (1 - weights.alpha) * recall
    mean = precision * recall / below if below else 0.0
    pieces = 0.0 if counts.whole or not counts.matches else counts.chunks / counts.matches
    penalty = weights.gamma * pieces**weights.beta if pieces else 0.0
    return MeteorParts(
        precision, recall, mean, counts.words, counts.matches, counts.chunks, penalty, mean * (1 - penalty)
    )
