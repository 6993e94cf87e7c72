"""What goes on while runs train: ΔW redrawn, the rank sweep, LoRA's amplification against full fine-tuning's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.engine.protocol import Engine, Job
from explorer.labs.delta.params import ExperimentParams, FactorsParams, FollowDeltaParams, SpectrumParams, SweepParams
from explorer.labs.delta.schema import RankPoint, RankSweepResult, RunFactors, SpectrumResult
from explorer.runs.comparing import Compared, follow, follow_all, require_success
from explorer.tasks.metrics import METRICS

SPECTRUM = Job("explorer.labs.delta.jobs:delta_spectrum", on="runs")
FACTORS = Job("explorer.labs.delta.jobs:amplification_by_layer", on="runs")


@dataclass(frozen=True)
class Experiment:
    """Two runs' current records, and their factors once both are done."""

    compared: Compared
    factors: tuple[RunFactors, ...] = ()


def follow_delta(engine: Engine, params: FollowDeltaParams, owner: str) -> Iterator[SpectrumResult | None]:
    """Yield the newest ΔW of a run, whenever another has been kept, until the run has ended."""
    drawn: tuple[int, ...] | None = None
    for record in follow(engine.runs, params.run):
        ended = record is not None and not record.status.is_active
        # The end is drawn even without a new snapshot: its weights are.
        if record is None or (not ended and (not record.snapshots or record.snapshots == drawn)):
            yield None
            continue
        drawn = record.snapshots
        yield engine.follow(SPECTRUM, SpectrumParams(params.run)).last.result()


def sweep_ranks(engine: Engine, params: SweepParams, owner: str) -> Iterator[Compared | None]:
    """Start one LoRA run a rank and follow them all (Hu et al. 2021, section 7.2, Table 6)."""
    yield from follow_all(engine.runs, tuple(engine.runs.start(spec, owner) for spec in params.specs()))


def sweep_result(compared: Compared) -> RankSweepResult:
    """Return the sweep so far, with a run's latest held-out metric until it is done."""
    records = compared.records
    metric = METRICS[records[0].leading_metric].title  # all are on one task
    points = tuple(RankPoint(record.spec.rank, record.score, record.trainable) for record in records)
    return RankSweepResult(records[0].task_title, metric, points)


def compare_amplification(engine: Engine, params: ExperimentParams, owner: str) -> Iterator[Experiment | None]:
    """Train LoRA and all of the model on the same examples, then compare how strongly each amplifies (LoRA, 7.3)."""
    started = tuple(engine.runs.start(spec, owner) for spec in params.specs())
    last = Compared(())
    for compared in follow_all(engine.runs, started):
        last = compared or last
        yield Experiment(compared) if compared is not None else None
    require_success(last)  # before anything is asked of a run that failed
    factors = engine.follow(FACTORS, FactorsParams(started[0], started[1], params.module, params.r)).last.result()
    yield Experiment(last, factors)
