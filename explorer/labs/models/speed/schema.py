"""What is asked about the speed of shared layers and narrow embeddings and what comes out; plain data, no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Whole
from explorer.params import Shown, params

TOKENS = 64
"""Of the one text that is read."""

VOCABULARY = 30_000
"""ALBERT's. A word's row is looked up and not multiplied, but a training step has the whole table to update."""

SHARED = {"none": "each depth its own layer", "all": "one layer for all depths"}
WIDE = "wide"
"""Beside SHARED: one layer for all depths, and embeddings as wide as it."""

PASSES = {"forward": "forward pass", "step": "training step"}


@params
class SpeedParams:
    """ALBERTs of these sizes, small enough to be timed while somebody waits: F = 4 H, a head for every 64 of H."""

    layers: Annotated[int, Whole(1, 12), Shown("Layers L", slider=(1, 12))] = 6
    hidden_size: Annotated[
        int, Whole(64, 384), Shown("Width H", "Rounded down to a multiple of 64.", slider=(64, 384, 64))
    ] = 384
    embedding_size: Annotated[
        int, Whole(16, 384), Shown("Width of the embeddings, E", "At most H.", slider=(16, 384, 16))
    ] = 128


@dataclass(frozen=True)
class Timed:
    """One of SHARED, or WIDE, in one of PASSES: the median milliseconds, and the quartiles."""

    sharing: str
    work: str
    milliseconds: float
    low: float
    high: float


@dataclass(frozen=True)
class SpeedResult:
    """hidden_size, embedding_size: as they were timed. products: multiplications of one text's numbers by weights in the layers
    of a forward pass, the same in all.

    By what is shared: parameters of all layers, embeddings (the word table and its map to the layers' width). WIDE is missing
    where the embeddings are as wide as the layers anyway.
    """

    layers: int
    hidden_size: int
    embedding_size: int
    parameters: dict[str, int]
    embeddings: dict[str, int]
    products: int
    timed: tuple[Timed, ...]

    def of(self, sharing: str, work: str) -> Timed:
        """The times of one of them in one of PASSES."""
        return next(one for one in self.timed if (one.sharing, one.work) == (sharing, work))
