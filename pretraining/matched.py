"""Sentence pairs in which only whether B fits A tells the class: not how B begins, and not how long it is.

BERT's own false pairs (rows.py) take B from anywhere, so a head learns that a sentence which begins with "He" or "Then"
follows something, whatever it is. Here both classes have the same sentences for B. True pairs are sentences that follow each
other in a paragraph; in a false pair B is the one of another true pair of the same source that begins with the same word and
is about as long. Two of three neighbours in stories and reviews could stand in any text ("I loved it."), and from such pairs
nothing is learned: only those are kept that a sentence encoder finds related, and a false pair must be one that it does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.errors import BadInputError
from explorer.objectives.rows import IS_NEXT, NOT_NEXT
from explorer.objectives.text import TextStore

SHORTEST, LONGEST = 4, 20
"""Tokens of a sentence, its full stop with it."""
LENGTH_STEP = 6
"""Sentences whose lengths in tokens fall into the same step count as equally long."""
FREQUENT_OPENINGS = 60
"""So many first tokens are openings of their own (He, Then, The, But, In); the rest are one: names and content words."""
SMALLEST_GROUP = 6
"""Openings and lengths that fewer pairs of a source have are one group."""
RELATED, SOMEWHAT_RELATED, UNRELATED = 0.2, 0.1, 0.15
"""Cosines of embeddings: a true pair's least, the least where every pair was written as one, a false pair's most."""
TRIES = 8

Embedder = Callable[[Sequence[list[int]]], NDArray[np.float32]]
"""From sentences as token ids to their embeddings of length 1: (sentences, width)."""


@dataclass(frozen=True)
class Neighbours:
    """Sentences that follow each other in a paragraph, one entry a pair; documents are numbered within their source."""

    sources: tuple[str, ...]
    documents: tuple[int, ...]
    firsts: tuple[list[int], ...]
    seconds: tuple[list[int], ...]


def neighbours(stores: Mapping[str, TextStore], most: Mapping[str, int], seed: int) -> Neighbours:
    """Up to `most[name]` pairs of each source, each sentence of SHORTEST to LONGEST tokens, drawn without repetition.

    Raises BadInputError if no source has any.
    """
    rng = np.random.default_rng(seed)
    found: list[tuple[str, int, list[int], list[int]]] = []
    for name in (name for name in most if name in stores):
        store = stores[name]
        lengths = np.diff(store.starts)
        fits = (lengths >= SHORTEST) & (lengths <= LONGEST)
        chosen = 1 + np.flatnonzero((store.paragraphs[1:] == store.paragraphs[:-1]) & fits[1:] & fits[:-1])
        if len(chosen) > most[name]:
            chosen = rng.choice(chosen, most[name], replace=False)
        for second in chosen.tolist():
            pair = store.one_sentence(second - 1), store.one_sentence(second)
            found.append((name, int(store.documents[second]), *pair))
    if not found:
        raise BadInputError(
            f"Matched pairs need paragraphs in which sentences of {SHORTEST} to {LONGEST} tokens follow each other."
        )
    sources, documents, firsts, seconds = zip(*found, strict=True)
    return Neighbours(sources, documents, firsts, seconds)


class MatchedPairs:
    """Draws pairs from neighbours that are related.

    embedded: the embeddings of the first and of the second sentences, each (pairs, width). weights: how often a pair of a
    source is drawn, 1 where it is not named. written: sources in which every pair was written as one.
    """

    def __init__(
        self,
        pairs: Neighbours,
        embedded: tuple[NDArray[np.float32], NDArray[np.float32]],
        weights: Mapping[str, float],
        written: Sequence[str],
    ) -> None:
        self.pairs = pairs
        self.embedded_firsts, self.embedded_seconds = embedded
        cosines = (self.embedded_firsts * self.embedded_seconds).sum(axis=1)
        least = [SOMEWHAT_RELATED if source in written else RELATED for source in pairs.sources]
        self.kept = np.flatnonzero(cosines >= np.array(least))
        if not len(self.kept):
            raise BadInputError("No two sentences that follow each other in this text are related.")
        shares = np.array([weights.get(pairs.sources[pair], 1.0) for pair in self.kept])
        self.shares = shares / shares.sum()
        self.groups = self._grouped()

    def _grouped(self) -> dict[int, list[int]]:
        """The pairs of each kept pair's source whose B begins and lasts as its own does."""
        openings = [self.pairs.seconds[pair][0] for pair in self.kept]
        names, counts = np.unique(openings, return_counts=True)
        frequent = set(names[np.argsort(-counts, kind="stable")[:FREQUENT_OPENINGS]].tolist())
        groups: dict[tuple[str, int, int], list[int]] = {}
        for pair, opening in zip(self.kept.tolist(), openings, strict=True):
            length = len(self.pairs.seconds[pair]) // LENGTH_STEP
            key = (self.pairs.sources[pair], opening if opening in frequent else -1, length)
            groups.setdefault(key, []).append(pair)
        rest: dict[str, list[int]] = {}
        for key, members in groups.items():
            if len(members) < SMALLEST_GROUP:
                rest.setdefault(key[0], []).extend(members)
        return {
            pair: members if len(members) >= SMALLEST_GROUP else rest[key[0]]
            for key, members in groups.items()
            for pair in members
        }

    def draw(self, rng: np.random.Generator) -> tuple[list[int], list[int], int]:
        """Token ids of A and of B, and the class; half of the draws are true.

        Raises BadInputError where chance finds no false pair: the text is too small.
        """
        for _ in range(10 * TRIES):
            pair = int(self.kept[rng.choice(len(self.kept), p=self.shares)])
            other = self._unrelated(pair, rng)
            if other is not None:  # a true pair too comes only from where there is a false one
                true = rng.random() < 0.5
                second = self.pairs.seconds[pair if true else other]
                return self.pairs.firsts[pair], second, IS_NEXT if true else NOT_NEXT
        raise BadInputError("Matched pairs need a text in which sentences of several documents begin alike.")

    def each(self, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
        """Every pair that is kept, with another whose second sentence makes a false one; those that find none are left out."""
        for pair in self.kept.tolist():
            other = self._unrelated(pair, rng)
            if other is not None:
                yield pair, other

    def _unrelated(self, pair: int, rng: np.random.Generator) -> int | None:
        members = self.groups[pair]
        for _ in range(TRIES):
            other = members[int(rng.integers(len(members)))]
            elsewhere = self.pairs.documents[other] != self.pairs.documents[pair]
            if elsewhere and self.embedded_firsts[pair] @ self.embedded_seconds[other] < UNRELATED:
                return other
        return None
