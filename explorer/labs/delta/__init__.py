"""ΔW: what the update is made of, which directions it takes, and what it does to W."""

from explorer.action import Action, Lab, LiveAction
from explorer.engine.protocol import Job
from explorer.labs.delta import amplification_figures, directions_figures, plain, sweep_figures
from explorer.labs.delta import spectrum_figures as figures
from explorer.labs.delta.forgetting import FORGETTING
from explorer.labs.delta.intruders import INTRUDERS, TRAIN_INTRUDERS
from explorer.labs.delta.live import Experiment, sweep_result
from explorer.labs.delta.params import (
    AmplificationParams,
    ExperimentParams,
    FactorsParams,
    FollowDeltaParams,
    PlacementParams,
    SpectrumParams,
    SubspaceParams,
    SweepParams,
)
from explorer.labs.delta.weight import WEIGHT_SPECTRUM
from explorer.models.catalog import DEFAULT_MODEL
from explorer.runs.comparing import Compared, require_success
from explorer.tables import Table
from explorer.worked import Opening

_JOBS = "explorer.labs.delta.jobs"
_LIVE = "explorer.labs.delta.live"


def _job(name: str) -> Job:
    return Job(f"{_JOBS}:{name}", on="runs")


def _experiment_table(experiment: Experiment) -> Table:
    """run, module, r, layer, factor, energy_share, emphasis."""
    return amplification_figures.factors_table(experiment.factors)


def _only_factors(experiment: Experiment) -> Experiment:
    """Leave out the two runs' curves, which the figure does not draw."""
    return Experiment(Compared(()), experiment.factors)


def _sweep_table(compared: Compared) -> Table:
    """rank, metric, trainable."""
    return sweep_figures.sweep_table(sweep_result(compared))


DELTA_SPECTRUM = Action(_job("delta_spectrum"), SpectrumParams, figures.spectrum_table, plain=plain.spectrum)
FOLLOW_DELTA = LiveAction(f"{_LIVE}:follow_delta", FollowDeltaParams, figures.spectrum_table, plain=plain.spectrum)
SUBSPACE = Action(
    _job("subspace_similarity"), SubspaceParams, directions_figures.similarity_table, plain=plain.subspaces
)
AMPLIFICATION = Action(
    _job("amplification"), AmplificationParams, amplification_figures.amplification_table, plain=plain.amplification
)
FACTORS = Action(
    _job("amplification_by_layer"),
    FactorsParams,
    amplification_figures.factors_table,
    plain=plain.amplification_by_layer,
)
PLACEMENT = Action(_job("placement"), PlacementParams, directions_figures.placement_table, plain=plain.placement)
EXPERIMENT = LiveAction(
    f"{_LIVE}:compare_amplification",
    ExperimentParams,
    _experiment_table,
    openings=(Opening(ExperimentParams(DEFAULT_MODEL), Experiment, kept=_only_factors),),
)
SWEEP = LiveAction(f"{_LIVE}:sweep_ranks", SweepParams, _sweep_table, require_success)

LAB = Lab(
    slug="delta",
    title="ΔW",
    chapter="Adapt",
    question="What is the update made of?",
    teaser="See the singular values of ΔW as they grow, which directions two runs share, and what ΔW amplifies in W.",
    needs=None,
    actions=(
        *(DELTA_SPECTRUM, FOLLOW_DELTA, SUBSPACE, AMPLIFICATION, FACTORS, PLACEMENT, EXPERIMENT, SWEEP),
        *(WEIGHT_SPECTRUM, INTRUDERS, TRAIN_INTRUDERS, FORGETTING),
    ),
    tab="explorer.labs.delta.page:build",
)
