"""METEOR 1.5 for English (Denkowski and Lavie 2014), the version that the E2E challenge runs, without its paraphrase
tables.

P and R: the matched words' weights divided by all words' weights; a match weighs 1 (exact), 0.6 (stem) or 0.8
(synonym), a function word 1 − δ, any other δ = 0.75. F = PR / (αP + (1 − α)R), α = 0.85; penalty = γ
(chunks/matches)^β, γ = 0.6, β = 0.2, none if one chunk holds everything; METEOR = F (1 − penalty). Each sentence is
compared with its best reference; the corpus puts the sums of all counts into the same formula. Java's METEOR also
matches phrases of its table of paraphrases (weight 0.6).

The alignment says which word of the hypothesis is matched with which of the reference. Words match if they are equal, if they
have the same stem (Porter 2), or, if WordNet is there, if they are synonyms. Each word takes part at most once. Of all
alignments the best has the most matches, then the fewest chunks, then the shortest distances (section 2); it is sought by a beam
of 40 from left to right, as in their code.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from explorer.tasks.generation_metrics.words import Ngram

STAGES = ("exact", "stem", "synonym")
BEAM = 40
LONG, BEAM_OF_LONG = 80, 4
"""From this many words on the beam is narrow, so that no pasted text holds a worker for minutes."""

MOST_PLACES = 4
"""How many free places are tried for a word that stands more often in the reference, besides the place that continues a
chunk.
"""

REMEMBERED = 50_000


class Pair(NamedTuple):
    """A match: the positions of the two words, and the stage (its index in STAGES) that found it."""

    here: int
    there: int
    stage: int


Chain = tuple[Pair, Any] | None
"""The last pair, and the chain of those before it."""

State = tuple[int, int, int, int, int, int, Chain]
"""An alignment of the words so far: −matches, chunks, distance and stages, each the less the better in this order; the
bits of the reference's words that are taken; the position in the reference of the last word's match; the pairs.
"""

NOWHERE = -9
"""The position of no word of the reference, nor of the one before any."""


def align(words: Sequence[str], reference: Sequence[str]) -> tuple[Pair, ...]:
    """Return the best alignment's pairs, from the left."""
    candidates = _candidates(words, reference)
    wanted = Counter(there for options in candidates for there, _ in options)
    # later[-1] has the bits of the reference's words that a word further right may match.
    later = [0]
    for options in reversed(candidates[1:]):
        later.append(later[-1] | sum(1 << there for there, _ in options))
    states: list[State] = [(0, 0, 0, 0, 0, NOWHERE, None)]
    beam = BEAM if len(words) < LONG else BEAM_OF_LONG
    for here, options in enumerate(candidates):
        alone = len(options) == 1 and wanted[options[0][0]] == 1
        states = _after(states, here, options, alone, later.pop())
        states = heapq.nsmallest(beam, states, key=_cost) if len(states) > beam else states
    chain, pairs = min(states, key=_cost)[-1], []
    while chain is not None:
        pair, chain = chain
        pairs.append(pair)
    return tuple(reversed(pairs))


def _cost(state: State) -> tuple[int, ...]:
    return state[:6]


def chunks_of(pairs: Sequence[Pair]) -> int:
    """Return the number of chunks: runs of pairs that are neighbours in both texts."""
    following = sum((one.here + 1, one.there + 1) == (other.here, other.there) for one, other in pairwise(pairs))
    return len(pairs) - following


def _candidates(words: Sequence[str], reference: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return for each word the positions that it may match, each with the first stage that matches them."""
    places: dict[str, list[int]] = {}
    for there, other in enumerate(reference):
        places.setdefault(stem(other), []).append(there)
    found = []
    for word in words:
        options = [(there, int(reference[there] != word)) for there in places.get(stem(word), ())]
        found.append(options + _synonymous(word, reference) if knows_synonyms() else options)
    return found


def _synonymous(word: str, reference: Sequence[str]) -> list[tuple[int, int]]:
    """Return the positions of synonyms that are not matched by their stem already."""
    return [
        (there, 2)
        for there, other in enumerate(reference)
        if stem(word) != stem(other) and synonyms(word) & synonyms(other)
    ]


def _after(states: list[State], here: int, options: list[tuple[int, int]], alone: bool, later: int) -> list[State]:
    """Return the states after one more word.

    alone: the word and its only match have no other candidate, so they are always matched. later: bits of the
    reference's words that may still be matched.
    """
    best: dict[tuple[int, int], State] = {}
    for matches, chunks, distance, stages, taken, last, pairs in states:
        longer = [] if alone else [(matches, chunks, distance, stages, taken & later, NOWHERE, pairs)]
        free = [option for option in options if not taken >> option[0] & 1]
        if len(free) > MOST_PLACES:
            free = [option for place, option in enumerate(free) if place < MOST_PLACES or option[0] == last + 1]
        for there, stage in free:
            broken = chunks + (last + 1 != there)
            ways, kept = distance + abs(here - there), (taken | 1 << there) & later
            longer.append((matches - 1, broken, ways, stages + stage, kept, there, (Pair(here, there, stage), pairs)))
        for one in longer:
            key = one[4:6]  # of two states with the same of these words free, only the better one can win
            if key not in best or one[:4] < best[key][:4]:
                best[key] = one
    return list(best.values())


@lru_cache(REMEMBERED)
def stem(word: str) -> str:
    """Return a word's stem by Porter's second English stemmer, nltk's."""
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


@lru_cache(REMEMBERED)
def synonyms(word: str) -> frozenset[str]:
    """Return the names of the sets of synonyms that a word is in; none without WordNet."""
    wordnet = _wordnet()
    return frozenset(one.name() for one in wordnet.synsets(word)) if wordnet else frozenset()


def knows_synonyms() -> bool:
    """Return whether nltk has WordNet on this machine; nothing is downloaded."""
    return _wordnet() is not None


@cache
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet


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
