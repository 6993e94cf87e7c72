"""From W and ΔW to the cosines of their directions: the chosen matrix first, then those of the other layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast

from torch import Tensor

from explorer.engine.resources import Resources
from explorer.labs.delta.intruders import MOST_DIRECTIONS, IntruderParams, IntruderResult, LayerCosines, RunIntruders
from explorer.labs.delta.jobs import base_of
from explorer.labs.delta.updates import BaseWeights, Deltas, finite, needed, update_at
from explorer.maths import spectra
from explorer.runs.open import OpenRun
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
    found = spectra.cosines(updated, weight, MOST_DIRECTIONS)
    values, places = spectra.nearest_directions(found)
    grid = found[:, :MOST_DIRECTIONS].float()  # (n, all of W's) to (n, n)
    return MatrixCosines(grid, values, places, spectra.chance_cosine(weight), isinstance(delta, LowRank))


def intruder_dimensions(resources: Resources, params: IntruderParams) -> Iterator[IntruderResult]:
    """Find directions of W + ΔW that W did not have, of both runs or of the one that is named twice, a layer a turn."""
    runs = [resources.open_run(name) for name in dict.fromkeys((params.run_a, params.run_b))]
    found = [_chosen(run, _cosines(resources, run, params.layer, params), params) for run in runs]
    layers = {layer for run in runs for layer, module in run.deltas() if module == params.module}
    others = sorted(layers - {params.layer})
    # The chosen layer first: its grid is what the page shows.
    for done, layer in enumerate([params.layer, *others], start=1):
        if layer != params.layer:
            found = [_with_layer(resources, one, run, layer, params) for one, run in zip(found, runs, strict=True)]
        asked = params.layer, params.module, params.k, params.epsilon
        yield IntruderResult(*asked, tuple(found), done, 1 + len(others))


def _cosines(resources: Resources, run: OpenRun, layer: int, params: IntruderParams) -> MatrixCosines:
    """Compute a matrix's cosines, and keep them, so that another k or ε is answered at once."""

    def make() -> MatrixCosines:
        return matrix_cosines(run.deltas(), base_of(run), layer, params.module)

    return cast(MatrixCosines, resources.once(("cosines", run.record.run_id, layer, params.module), make))


def _chosen(run: OpenRun, found: MatrixCosines, params: IntruderParams) -> RunIntruders:
    layers = (found.layer(params.layer, params.k),)
    return RunIntruders(run.record.name, found.low_rank, found.first(params.k), layers, found.chance)


def _with_layer(
    resources: Resources, found: RunIntruders, run: OpenRun, layer: int, params: IntruderParams
) -> RunIntruders:
    """Add a layer, if the run adapted it."""
    if (layer, params.module) not in run.deltas():
        return found
    one = _cosines(resources, run, layer, params).layer(layer, params.k)
    return replace(found, layers=(*found.layers, one))
