"""Parameters and result of one word's states in several sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any, Self

from pydantic import model_validator

from explorer.errors import BadInputError
from explorer.kinds import Read, parse_lines
from explorer.params import Seed, Shown, params
from explorer.text import checked_text

FEWEST, MOST = 2, 8
"""Sentences."""

LONGEST_WORD = 60
LONGEST_SENSE = 30
"""Characters."""

STATIC = -1
"""The layer's number, in tables and on axes, of the token embedding alone: before positions are added."""


@dataclass(frozen=True)
class Line:
    """One sentence without its sense, and where the word stands in it: characters, and how often in all."""

    text: str
    sense: str | None
    start: int
    stop: int
    times: int


def _checked_word(word: Any) -> str:
    text = word.strip() if isinstance(word, str) else ""
    if not text:
        raise BadInputError("Type the word that the sentences share.")
    if len(text) > LONGEST_WORD:
        raise BadInputError(f"The word is {len(text):,} characters long; {LONGEST_WORD} are the most.")
    return checked_text(text)


@params
class ContextParams:
    """The word in two to eight sentences."""

    sentences: Annotated[
        tuple[str, ...] | str,
        Read(parse_lines),
        Shown(
            f"Sentences, one a line ({FEWEST} to {MOST})", "A line may end in | and the word's sense.", lines=(6, 10)
        ),
    ]
    """As a list, or as a text with one a line; a line may end in "| sense", which names the word's meaning there."""

    word: Annotated[str, Read(_checked_word), Shown("Word", lines=(1, 1))]
    seed: Seed = 0
    """Of the draw of random tokens that the word is compared with."""

    @model_validator(mode="after")
    def _word_stands_in_every_sentence(self) -> Self:
        count = len(self.sentences)
        if count < FEWEST:
            raise BadInputError("To compare, the word must stand in at least two sentences: write one a line.")
        if count > MOST:
            raise BadInputError(f"These are {count:,} sentences, and the page compares at most {MOST}.")
        _ = self.lines  # raises for a sentence without the word
        return self

    @property
    def lines(self) -> tuple[Line, ...]:
        """The sentences, taken apart."""
        return tuple(_line(number, text, self.word) for number, text in enumerate(self.sentences, start=1))


def _line(number: int, given: str, word: str) -> Line:
    sentence, bar, sense = given.rpartition("|")
    # The last bar alone: a sentence may have others.
    sentence, sense = (sentence, sense.strip()) if bar and sentence.strip() else (given, "")
    if len(sense) > LONGEST_SENSE:
        raise BadInputError(
            f"In sentence {number} the sense after | has {len(sense)} characters; write at most {LONGEST_SENSE}."
        )
    text = checked_text(sentence.strip())
    places = find_word(text, word)
    if not places:
        raise BadInputError(
            f"Sentence {number} (“{_shortened(text)}”) has no “{word}” as a word of its own: write it there, "
            "or leave the line out."
        )
    return Line(text, sense or None, *places[0], len(places))


def find_word(text: str, word: str) -> list[tuple[int, int]]:
    """Return where a word stands in a text, as (start, stop) characters: upper or lower case, but as a word of its own.

    In a script without capitals (Chinese has no spaces, Arabic joins its article) a part of a run of letters counts
    too.
    """
    spelled = re.escape(word)
    whole = [match.span() for match in re.finditer(rf"(?<!\w){spelled}(?!\w)", text, re.IGNORECASE)]
    if whole or word.lower() != word.upper():  # a script with capitals
        return whole
    return [match.span() for match in re.finditer(spelled, text)]


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


@dataclass(frozen=True)
class Occurrence:
    """The word in one sentence. number: from 1. start, stop: its characters. pieces: its tokens. unknown: one of them is
    the unknown token. times: how often the sentence has the word; the first is taken."""

    number: int
    sentence: str
    sense: str | None
    start: int
    stop: int
    pieces: tuple[str, ...]
    unknown: bool
    times: int


@dataclass(frozen=True)
class Projection:
    """The vectors of one layer in their first two principal components. explained: shares of the variance; 0 if all
    vectors are the same."""

    points: tuple[tuple[float, float], ...]
    explained: tuple[float, float]


@dataclass(frozen=True)
class LayerView:
    """One layer. cosines[i][j]: of the word's vectors in sentences i and j. baseline: the mean cosine of the random pairs,
    middle: their 5th and 95th percentile."""

    layer: int
    cosines: tuple[tuple[float, ...], ...]
    baseline: float
    middle: tuple[float, float]
    projection: Projection


@dataclass(frozen=True)
class ContextResult:
    """layers: the token embedding alone (STATIC), then 0, what the first layer reads, to the last layer.

    pairs: how many random pairs; pool: the tokens that they were drawn from, of plain_sentences sentences of the app's own
    and of the visitor's. one_vector: whether the word is written with the same tokens in each sentence.
    adds_positions: whether layer 0 tells apart one token at two positions; some families bring positions in later.
    """

    model: str
    word: str
    occurrences: tuple[Occurrence, ...]
    layers: tuple[LayerView, ...]
    pairs: int
    pool: int
    plain_sentences: int
    one_vector: bool
    adds_positions: bool

    @property
    def depth(self) -> int:
        """The last layer's number."""
        return self.layers[-1].layer

    def at(self, layer: int) -> LayerView:
        """Return one layer by its number."""
        return self.layers[layer - STATIC]  # the first entry is STATIC

    def kinds(self) -> dict[tuple[int, int], str]:
        """Return for each pair of sentences (from 0): same, different, or unnamed if a sense is missing."""
        senses = [occurrence.sense for occurrence in self.occurrences]
        return {
            (i, j): "unnamed"
            if senses[i] is None or senses[j] is None
            else ("same" if senses[i] == senses[j] else "different")
            for i, j in combinations(range(len(senses)), 2)
        }

    def mean(self, kind: str, layer: int) -> float | None:
        """Return the mean cosine of the pairs of one kind; None if there are none."""
        chosen = [self.at(layer).cosines[i][j] for (i, j), found in self.kinds().items() if found == kind]
        return sum(chosen) / len(chosen) if chosen else None

    def telling_layer(self) -> int:
        """Return the layer in which the senses are furthest apart (same minus different).

        Without both kinds of pairs, it is the one in which all pairs are least alike on average.
        """
        if self.mean("same", 0) is not None and self.mean("different", 0) is not None:
            return max(
                range(self.depth + 1), key=lambda k: (self.mean("same", k) or 0) - (self.mean("different", k) or 0)
            )
        pairs = list(self.kinds())
        return min(range(self.depth + 1), key=lambda k: sum(self.at(k).cosines[i][j] for i, j in pairs))
