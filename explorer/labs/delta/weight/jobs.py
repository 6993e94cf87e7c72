"""The job behind W's spectrum beside ΔW's."""

from __future__ import annotations

from explorer.labs.delta.jobs import base_of
from explorer.labs.delta.params import PlacementParams
from explorer.labs.delta.weight.compute import whole_spectra
from explorer.labs.delta.weight.schema import WholeSpectra
from explorer.runs.open import OpenRuns


def weight_spectrum(open_run: OpenRuns, params: PlacementParams) -> WholeSpectra:
    """All singular values of one W and of its update at the run's end."""
    run = open_run(params.run)
    return whole_spectra(run.deltas(), base_of(run), params.layer, params.module, run.record.name)
