"""Parameters and results of the jobs on the sum of the embeddings and on positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.errors import BadInputError
from explorer.kinds import Sentence, Whole
from explorer.params import Position, Shown, Text, params

ADDED = ("token", "segment", "position")
"""The kinds of parts that are added up, in the order in which they are shown."""

MOST_POSITIONS = 64


@params
class SumParams:
    """One sentence, or two."""

    sentence_a: Annotated[Text, Shown("First sentence", lines=(1, 4))]
    sentence_b: Annotated[
        str,
        Sentence("The second sentence is a text; leave it empty for one sentence alone.", optional=True),
        Shown("Second sentence (may stay empty)", lines=(1, 4)),
    ] = ""

    @property
    def second(self) -> str | None:
        """The second sentence; None if there is none."""
        return self.sentence_b or None


@dataclass(frozen=True)
class SumToken:
    """One position of the input. segment, place: the rows that it takes of the segment and of the position table."""

    position: int
    token_id: int
    text: str
    shown: str
    joined: bool
    special: bool
    segment: int | None
    place: int | None


@dataclass(frozen=True)
class SumPart:
    """One part for every token. kind: token, segment, position, sum, layer_norm or projection.

    norms: the length of each token's vector. dimensions: which of the `width` dimensions `strips` holds.
    """

    kind: str
    width: int
    norms: tuple[float, ...]
    dimensions: tuple[int, ...]
    strips: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class SumResult:
    """difference: the largest absolute difference between the last part and the model's own embedding output."""

    model: str
    tokens: tuple[SumToken, ...]
    parts: tuple[SumPart, ...]
    difference: float


@params
class TokenPartsParams(SumParams):
    """As SumParams, and the position of one token, from 0."""

    position: Position = 1


@dataclass(frozen=True)
class TokenPart:
    """One part of one token.

    cosine: with the sum. share: of the sum's squared norm, part · sum / |sum|²; the shares of what is added make 1. Both
    None for what is not added up.
    """

    kind: str
    width: int
    norm: float
    cosine: float | None
    share: float | None
    dimensions: tuple[int, ...]
    strip: tuple[float, ...]


@dataclass(frozen=True)
class Neighbour:
    """A piece of the vocabulary, and the cosine of its static embedding with the token's."""

    token: str
    cosine: float


@dataclass(frozen=True)
class TokenPartsResult:
    """neighbours: nearest in the token table, the token itself left out."""

    model: str
    token: SumToken
    parts: tuple[TokenPart, ...]
    neighbours: tuple[Neighbour, ...]


@params
class PositionsParams:
    """step: every how many positions one is taken."""

    step: Annotated[
        int,
        Whole(1, 1000),
        Shown(
            f"Which positions, at most {MOST_POSITIONS}",
            choices=(("The first 64", 1), ("Every 4th", 4), ("Every 8th", 8)),
        ),
    ] = 1


@dataclass(frozen=True)
class PositionsResult:
    """cosines[i][j]: of the position embeddings of positions[i] and positions[j]; `available` is how many there are.

    All empty for a model that adds no positions.
    """

    model: str
    positions: tuple[int, ...]
    available: int
    cosines: tuple[tuple[float, ...], ...]


def require_positions(result: PositionsResult) -> None:
    """Raise BadInputError for a model without a position table; the page says it in a sentence."""
    if not result.positions:
        raise BadInputError(
            f"{result.model} adds no position embeddings: its attention is told the distance of two tokens instead. "
            "Choose a model with absolute positions, such as bert-small."
        )
