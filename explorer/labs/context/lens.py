"""Parameters and result of the logit lens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Name, Whole
from explorer.params import Shown, Text, params
from explorer.text import checked_text

MOST_GUESSES = 50
MOST_PLACES = 16
"""Masks of one text: each costs a distribution over the vocabulary for every layer."""

LONGEST_FOLLOWED = 60


def _followed(word: str) -> str:
    followed = word.strip()
    if len(followed) > LONGEST_FOLLOWED:
        raise BadInputError(f"The word to follow has {len(followed):,} characters; {LONGEST_FOLLOWED} are the most.")
    return checked_text(followed) if followed else ""


@params
class LensParams:
    """What every layer would answer."""

    text: Annotated[Text, Shown("Text", "With [MASK] for a blank. GPT-2 continues the text.", lines=(2, 6))]
    top_k: Annotated[int, Whole(1, MOST_GUESSES), Shown("Ranks", slider=(1, 10))] = 5
    """Tokens a layer."""

    follow: Annotated[
        str,
        Name(optional=True),
        AfterValidator(_followed),
        Shown("Follow a word", "Optional; one token.", lines=(1, 1)),
    ] = ""
    """A word whose way is drawn as well."""


@dataclass(frozen=True)
class LensToken:
    """One token of the text as the model reads it; asked: the lens looks at this position."""

    position: int
    text: str
    shown: str
    joined: bool
    special: bool
    asked: bool


@dataclass(frozen=True)
class Guess:
    """One token that the head would name."""

    rank: int
    token: str
    probability: float


@dataclass(frozen=True)
class Standing:
    """Where one token stands in a layer's distribution; rank 1 is the likeliest."""

    rank: int
    probability: float


@dataclass(frozen=True)
class LayerReading:
    """What the head says of one layer's state. divergence: KL(final ‖ this layer), in bits; 0 in the last layer."""

    layer: int
    guesses: tuple[Guess, ...]
    answer: Standing
    followed: Standing | None
    divergence: float


@dataclass(frozen=True)
class Place:
    """One position. answer: the token that leads in the last layer. layers: from 0, what the embeddings give, to the last."""

    position: int
    answer: str
    layers: tuple[LayerReading, ...]

    def leads_from(self) -> int:
        """Return the first layer from which on the final answer leads without a break."""
        behind = [reading.layer for reading in self.layers if reading.answer.rank > 1]
        return behind[-1] + 1 if behind else 0

    def first_among(self, top_k: int) -> int:
        """Return the first layer in which the final answer is one of the top_k tokens."""
        return next(reading.layer for reading in self.layers if reading.answer.rank <= top_k)


@dataclass(frozen=True)
class LensResult:
    """asked: mask, continue or replaced, as explorer.models.questions names it. cut: a left-to-right model was given
    the text up to its mask. follow: the token that is followed; None for none. refused: why the word that was asked for
    cannot be followed. classes: how many the head chooses from. problem: why there is no place to look at; empty if
    there is one.
    """

    model: str
    asked: str
    cut: bool
    top_k: int
    follow: str | None
    refused: str
    classes: int
    tokens: tuple[LensToken, ...]
    places: tuple[Place, ...]
    problem: str = ""

    @property
    def depth(self) -> int:
        """The last layer's number."""
        return len(self.places[0].layers) - 1

    def opening(self) -> Place:
        """Return the place that a page shows first: the first one, or the token that is likeliest to have been
        replaced.
        """
        if self.asked != "replaced":
            return self.places[0]
        return max(self.places, key=_replaced)

    def at(self, position: int | None) -> Place:
        """Return the place at a position; the opening one if the lens does not look there."""
        return {place.position: place for place in self.places}.get(
            -1 if position is None else position, self.opening()
        )


def _replaced(place: Place) -> float:
    last = place.layers[-1].answer.probability
    return last if place.answer == "replaced" else 1 - last  # two classes: the rest is the other's


def require_places(result: LensResult) -> None:
    """Raise BadInputError for a result without a place to look at; the page says why, in place of a figure."""
    if result.problem:
        raise BadInputError(result.problem)
