"""The rank sweep: runs like any other, started together."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.backend.executor import Executor
from explorer.backend.runs.following import Compared, follow_all
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.errors import ExplorerError
from explorer.labs.delta.params import SweepParams
from explorer.labs.delta.schema import RankPoint, RankSweepResult
from explorer.tasks.metrics import METRICS


def sweep_ranks(executor: Executor, params: SweepParams, owner: str) -> Iterator[Compared | None]:
    """Start one LoRA run a rank and follow them all (Hu et al. 2021, section 7.2, Table 6)."""
    yield from follow_all(executor.runs, tuple(executor.runs.start(spec, owner) for spec in params.specs()))


def sweep_result(compared: Compared) -> RankSweepResult:
    """The sweep as it stands; a run's latest held-out metric until it is done."""
    records = compared.records
    metric = METRICS[records[0].leading_metric].title
    points = tuple(RankPoint(record.spec.rank, record.score, record.trainable) for record in records)
    return RankSweepResult(records[0].task_title, metric, points)


def require_success(compared: Compared) -> None:
    """Raise ExplorerError with the first failure's own message where every run failed."""
    failed: list[RunRecord] = [record for record in compared.records if record.status is RunStatus.FAILED]
    if len(failed) == len(compared.records):
        raise ExplorerError(failed[0].message)
