"""Parameters and results of the attention jobs: one head's weights, and statistics of all heads."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from explorer.errors import BadInputError
from explorer.kinds import MOST_TOKENS, Read, Whole
from explorer.params import HeadNumber, Layer, SecondText, Text, params


@dataclass(frozen=True)
class TokenPlace:
    """One position of the input; `masked`: hidden by the visitor."""

    position: int
    text: str
    shown: str
    joined: bool
    special: bool
    masked: bool = False

    @property
    def name(self) -> str:
        """Position and token, unlike any other of the text."""
        return f"{self.position} {self.shown}"


@dataclass(frozen=True)
class Square:
    """A matrix with a row and a column for each token, kept in four bytes a number; `values` row by row."""

    size: int
    values: array[float]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float]]) -> Square:
        """Make a square of nested sequences, one a row."""
        return cls(len(rows), array("f", (value for row in rows for value in row)))

    def row(self, number: int) -> array[float]:
        """Return one row."""
        return self.values[number * self.size : (number + 1) * self.size]


def _positions(value: Any) -> tuple[int, ...]:
    entries = value.replace(";", ",").split(",") if isinstance(value, str) else value
    if not isinstance(entries, (list, tuple)):
        raise BadInputError("masked takes token positions, such as 3, 5.")
    wanted = [entry for entry in entries if str(entry).strip()]
    return tuple(sorted({Whole(0, MOST_TOKENS).read(entry, "masked") for entry in wanted}))


@params
class AttentionParams:
    """One head on a text or a pair; layers and heads count from 0. masked: positions of tokens to hide."""

    sentence_a: Text
    sentence_b: SecondText = ""
    layer: Layer = 0
    head: HeadNumber = 0
    masked: Annotated[tuple[int, ...], Read(_positions)] = ()
    """Positions to hide, as numbers or "3, 5"."""


@dataclass(frozen=True)
class HeadFacts:
    """What the head does on this text, by explorer.maths.attention: name and value of each statistic."""

    statistics: tuple[tuple[str, float], ...]
    to_special: float
    """The share of all attention that goes to special tokens."""

    def value(self, name: str) -> float | None:
        """Return one statistic; None if the text has none such."""
        return dict(self.statistics).get(name)


@dataclass(frozen=True)
class AttentionResult:
    """weights[i][j]: how much position i looks at position j. rollout: the same through all layers up to this one.

    second_starts: the first position of the second text. before: the weights without the mask, where tokens are masked.
    causal: the model sees no later token.
    """

    model: str
    tokens: tuple[TokenPlace, ...]
    second_starts: int | None
    layers: int
    heads: int
    layer: int
    head: int
    weights: Square
    rollout: Square
    before: Square | None
    facts: HeadFacts
    causal: bool


@params
class StatisticsParams:
    """A text or a pair."""

    sentence_a: Text
    sentence_b: SecondText = ""


@dataclass(frozen=True)
class StatisticsResult:
    """grids[statistic][layer][head]; first and separator: how the model spells its first token and its separator."""

    model: str
    tokens: int
    grids: tuple[tuple[str, tuple[tuple[float, ...], ...]], ...]
    first: str
    separator: str

    def grid(self, statistic: str) -> tuple[tuple[float, ...], ...] | None:
        """Return one statistic; None if the text has none such."""
        return dict(self.grids).get(statistic)
