"""The ΔW lab's jobs: open the runs that are asked for, and hand their updates to compute."""

from __future__ import annotations

from typing import cast

from torch import Tensor

from explorer.errors import ModelUnavailableError
from explorer.labs.delta import compute
from explorer.labs.delta.params import (
    AmplificationParams,
    FactorsParams,
    PlacementParams,
    SpectrumParams,
    SubspaceParams,
)
from explorer.labs.delta.schema import (
    AmplificationResult,
    PlacementResult,
    RunFactors,
    SimilarityResult,
    SpectrumResult,
)
from explorer.labs.delta.updates import BaseWeights, Deltas, decomposed, needed, update_at
from explorer.labs.delta.weight import SHARES, Whole, WholeSpectra
from explorer.lru_cache import LRUCache
from explorer.maths import spectra
from explorer.runs.open import OpenRun, OpenRuns
from explorer.tuning.deltas import LowRank, base_weights

_BASES = LRUCache(1)
"""One base at a time: a class looks at one model."""


def base_of(run: OpenRun) -> BaseWeights | None:
    """Return W of the run's base model, its singular values computed once for all visitors; None if it is not here."""
    try:
        loaded = run.loaded()
    except ModelUnavailableError:
        return None
    # With the model itself, which keeps its id from naming another.
    _, base = _BASES.get(id(loaded.model), lambda: (loaded.model, BaseWeights(base_weights(loaded))))
    return cast(BaseWeights, base)


def delta_spectrum(open_run: OpenRuns, params: SpectrumParams) -> SpectrumResult:
    """Compute the singular values of every ΔW of a run at one step."""
    run = open_run(params.run)
    step = run.kept_step(params.step or None)  # 0 stands for the last
    return compute.spectrum(run.deltas(step), base_of(run), run.record.name, step)


def subspace_similarity(open_run: OpenRuns, params: SubspaceParams) -> SimilarityResult:
    """Compute φ between the directions of two runs."""
    one, other = open_run(params.run_a), open_run(params.run_b)
    names = (one.record.name, other.record.name)
    return compute.similarity(one.deltas(), other.deltas(), params.layer, params.module, names=names)


def amplification(open_run: OpenRuns, params: AmplificationParams) -> AmplificationResult:
    """Compare ‖ΔW‖ with what W holds in its directions."""
    run = open_run(params.run)
    return compute.amplification(run.deltas(), base_of(run), params.layer, params.module, params.r, run.record.name)


def amplification_by_layer(open_run: OpenRuns, params: FactorsParams) -> tuple[RunFactors, RunFactors]:
    """Compute the amplification factor in every layer of two runs: of LoRA and of full fine-tuning, say."""
    runs = [open_run(name) for name in (params.run_a, params.run_b)]
    one, other = (compute.factors(run.deltas(), base_of(run), params.module, params.r, run.record.name) for run in runs)
    return one, other


def placement(open_run: OpenRuns, params: PlacementParams) -> PlacementResult:
    """Measure where in W's spectrum the update lies."""
    run = open_run(params.run)
    return compute.placement(run.deltas(), base_of(run), params.layer, params.module, run.record.name)


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
