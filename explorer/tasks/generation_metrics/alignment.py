"""METEOR's alignment: which word of the hypothesis stands for which of the reference.

Words match where they are equal, where they have the same stem (Porter 2), and, where WordNet is there, where they are synonyms.
Each word takes part at most once. Of all alignments the one with the most matches, of these the one in the fewest chunks, of
these the one with the shortest ways (Denkowski and Lavie 2014, section 2), by a beam of 40 from left to right, as theirs.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

STAGES = ("exact", "stem", "synonym")
BEAM = 40
LONG, BEAM_OF_LONG = 80, 4
"""From so many words on the beam is narrow: no pasted text shall hold a worker for minutes."""

MOST_PLACES = 4
"""Of a word that stands more often in the reference, so many free places are tried, and the one that goes on a chunk."""

REMEMBERED = 50_000


class Pair(NamedTuple):
    """A match: the places of the two words, and the stage (its number in STAGES) that found it."""

    here: int
    there: int
    stage: int


Chain = tuple[Pair, Any] | None
"""The last pair, and the chain of those before it."""

State = tuple[int, int, int, int, int, int, Chain]
"""An alignment of the words so far: −matches, chunks, distance and stages, each the less the better in this order; the bits of
the reference's words that are taken; the reference's word of the word before; the pairs."""

NOWHERE = -9
"""No word of the reference, nor the one before any."""


def align(words: Sequence[str], reference: Sequence[str]) -> tuple[Pair, ...]:
    """The best alignment's pairs, from the left."""
    candidates = _candidates(words, reference)
    wanted = Counter(there for options in candidates for there, _ in options)
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
    """Runs of pairs that stand next to each other in both texts."""
    following = sum((one.here + 1, one.there + 1) == (other.here, other.there) for one, other in pairwise(pairs))
    return len(pairs) - following


def _candidates(words: Sequence[str], reference: Sequence[str]) -> list[list[tuple[int, int]]]:
    """For each word the places that it may match, each with the first stage that says so."""
    places: dict[str, list[int]] = {}
    for there, other in enumerate(reference):
        places.setdefault(stem(other), []).append(there)
    found = []
    for word in words:
        options = [(there, int(reference[there] != word)) for there in places.get(stem(word), ())]
        found.append(options + _synonymous(word, reference) if knows_synonyms() else options)
    return found


def _synonymous(word: str, reference: Sequence[str]) -> list[tuple[int, int]]:
    """The places of synonyms that are no match already."""
    return [
        (there, 2)
        for there, other in enumerate(reference)
        if stem(word) != stem(other) and synonyms(word) & synonyms(other)
    ]


def _after(states: list[State], here: int, options: list[tuple[int, int]], alone: bool, later: int) -> list[State]:
    """The states after one more word.

    alone: it and its only match want nobody else, so that it is always taken. later: bits of the words that may yet be wanted;
    of two states that leave the same of these, only the better one goes on.
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
            key = one[4:6]
            if key not in best or one[:4] < best[key][:4]:
                best[key] = one
    return list(best.values())


@lru_cache(REMEMBERED)
def stem(word: str) -> str:
    """By Porter's second English stemmer, nltk's."""
    return str(_stemmer().stem(word))


@cache
def _stemmer() -> Any:
    from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


@lru_cache(REMEMBERED)
def synonyms(word: str) -> frozenset[str]:
    """The names of the sets of synonyms that a word is in; none where WordNet isn't there."""
    wordnet = _wordnet()
    return frozenset(one.name() for one in wordnet.synsets(word)) if wordnet else frozenset()


def knows_synonyms() -> bool:
    """Whether nltk has WordNet on this machine; nothing is fetched."""
    return _wordnet() is not None


@cache
def _wordnet() -> Any:
    from nltk.corpus import wordnet

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    return wordnet
