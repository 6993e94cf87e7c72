"""What goes into the job on relative positions and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.errors import BadInputError
from explorer.kinds import MOST_TOKENS, Whole
from explorer.params import Shown, params

ABLE = "deberta-mini"
"""The bundled model that has them."""


@params
class RelativeParams:
    """length: of a text, in tokens."""

    length: Annotated[int, Whole(2, MOST_TOKENS), Shown("Tokens in the text", slider=(2, 512))] = 12


@dataclass(frozen=True)
class RelativeResult:
    """rows[i][j]: δ, the row of the relative embeddings for the way from token places[i] to token places[j].

    span: k; the table has 2k rows. buckets: whether far distances share rows by their logarithm. by_distance: the row of each
    distance i - j from -(length - 1) to length - 1. All empty for a model without such a table.
    """

    model: str
    length: int
    span: int
    buckets: bool
    places: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    by_distance: tuple[int, ...]

    @property
    def distances(self) -> range:
        """Those of by_distance."""
        return range(1 - self.length, self.length) if self.by_distance else range(0)


def refused(model: str) -> str:
    """What is said of a model without a table of relative positions."""
    return f"{model} has no table of relative positions. Choose a DeBERTa, such as {ABLE}."


def require_relative(result: RelativeResult) -> None:
    """Raise BadInputError for a model without relative positions; the page says it in a sentence."""
    if not result.rows:
        raise BadInputError(refused(result.model))
