"""From W and ΔW to the plain values that the figure draws, and the job on them."""

from __future__ import annotations

from torch import Tensor

from explorer.labs.delta.jobs import base_of
from explorer.labs.delta.params import PlacementParams
from explorer.labs.delta.updates import BaseWeights, Deltas, decomposed, needed, update_at
from explorer.labs.delta.weight import SHARES, Whole, WholeSpectra
from explorer.maths import spectra
from explorer.runs.open import OpenRuns
from explorer.tuning.deltas import LowRank


def weight_spectrum(open_run: OpenRuns, params: PlacementParams) -> WholeSpectra:
    """Compute all singular values of one W and of its update at the run's end."""
    run = open_run(params.run)
    return whole_spectra(run.deltas(), base_of(run), params.layer, params.module, run.record.name)


def whole_spectra(
    deltas: Deltas, base: BaseWeights | None, layer: int, module: str, name: str = "This run"
) -> WholeSpectra:
    """Compute every singular value of W and of its update.

    Raises BadInputError if the run has no such update, ModelUnavailableError without W.
    """
    delta, site = update_at(deltas, layer, module), (layer, module)
    weight = needed(base).matrix(site, delta)
    own, update = needed(base).values(site, delta), decomposed(delta).S
    rows, columns = weight.shape
    # Of W's norm, so that only structure differs.
    random = spectra.random_spectrum(rows, columns, float(own.double().norm()))
    low_rank = isinstance(delta, LowRank)
    return WholeSpectra(
        name, layer, module, len(own), len(update), low_rank, _whole(own), _whole(update), _whole(random)
    )


def _whole(values: Tensor) -> Whole:
    shares = tuple(spectra.directions_for(values, share) for share in SHARES)
    return Whole(tuple(values.tolist()), tuple(spectra.energy(values).tolist()), shares)
