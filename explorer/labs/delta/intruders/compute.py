"""From W and ΔW to the cosines of their directions, one matrix at a time."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from explorer.labs.delta.intruders.schema import MOST_DIRECTIONS, LayerCosines
from explorer.labs.delta.updates import BaseWeights, Deltas, finite, needed, update_at
from explorer.maths import intruders, spectra
from explorer.tuning.deltas import LowRank


@dataclass(frozen=True, eq=False)
class MatrixCosines:
    """Of the first MOST_DIRECTIONS directions of W + ΔW:
    cos
    with as many of W's, (n, n), the largest with any of W's, (n,), and which one that is, (n,), from 0.
    """

    grid: Tensor
    largest: Tensor
    closest: Tensor
    chance: float
    low_rank: bool

    def first(self, k: int) -> tuple[tuple[float, ...], ...]:
        """Return the grid of the first k."""
        return tuple(tuple(row) for row in self.grid[:k, :k].tolist())

    def layer(self, number: int, k: int) -> LayerCosines:
        """Return the cosines of a layer, of k directions."""
        # Pages count from 1.
        return LayerCosines(number, tuple(self.largest[:k].tolist()), tuple((self.closest[:k] + 1).tolist()))


def matrix_cosines(deltas: Deltas, base: BaseWeights | None, layer: int, module: str) -> MatrixCosines:
    """Compare the directions of one matrix.

    Raises BadInputError if the run has no such update, ModelUnavailableError without W.
    """
    site, delta = (layer, module), update_at(deltas, layer, module)
    matrix, weight = needed(base).matrix(site, delta), needed(base).decomposed(site, delta)
    updated = spectra.dense_svd(matrix + finite(delta.dense()).to(matrix))  # in W's precision
    found = intruders.cosines(updated, weight, MOST_DIRECTIONS)
    values, places = intruders.largest(found)
    grid = found[:, :MOST_DIRECTIONS].float()  # (n, all of W's) to (n, n)
    return MatrixCosines(grid, values, places, intruders.chance(weight), isinstance(delta, LowRank))
