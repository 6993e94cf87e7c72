"""All singular values of a weight matrix beside those of its update."""

from __future__ import annotations

from dataclasses import dataclass

SHARES = (0.5, 0.9, 0.99)
"""Of the energy: how many directions hold so much is counted."""


@dataclass(frozen=True)
class Whole:
    """A matrix's singular values from large to small, as many as its rank allows, and the share of the squared norm that the
    first i of them hold. needed: the fewest directions for each of SHARES."""

    values: tuple[float, ...]
    energy: tuple[float, ...]
    needed: tuple[int, ...]


@dataclass(frozen=True)
class WholeSpectra:
    """W, its update, and a Gaussian matrix of the same shape and W's norm, for one matrix of one layer.

    directions: min(rows, columns), as many as a matrix of this shape has. rank: the most that ΔW's can be; low_rank: whether
    that is LoRA's doing.
    """

    name: str
    layer: int
    module: str
    directions: int
    rank: int
    low_rank: bool
    weight: Whole
    update: Whole
    random: Whole
