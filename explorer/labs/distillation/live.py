"""The distillation lab's live actions: they start students and say how these stand."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.backend.executor import Executor, Job
from explorer.backend.runs.following import follow_all
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.distillation.train_schema import (
    Ablated,
    AblationParams,
    Distilled,
    DistillParams,
    FollowStudentParams,
    MeasureParams,
)
from explorer.tuning.students import labels_only

MEASURE = Job("explorer.labs.distillation.measuring:measure")


def distill(executor: Executor, params: DistillParams, owner: str) -> Iterator[Distilled | None]:
    """Start a student, and the same one without a teacher's help; follow both, then weigh and time them."""
    teacher = executor.runs.get(str(params.teacher))
    started = tuple(executor.runs.start(spec, owner) for spec in params.specs(teacher))
    yield from _followed(executor, teacher, started)


def follow_student(executor: Executor, params: FollowStudentParams, owner: str) -> Iterator[Distilled | None]:
    """A student that was started earlier, with its companion on labels alone where there is one."""
    record = executor.runs.get(str(params.run))
    if not record.spec.teacher:
        raise BadInputError(f"{record.name} is no student. Choose a run that was started on this page.")
    teacher = executor.runs.get(record.spec.teacher)
    companion = _companion(executor, record)
    yield from _followed(executor, teacher, (record.run_id, *([companion] if companion else [])))


def _companion(executor: Executor, record: RunRecord) -> str | None:
    """The run of the same owner with the same settings on labels alone; the newest of several."""
    from explorer.backend.runs.examples import LABELS_ONLY, STUDENT

    if record.run_id == STUDENT:
        return LABELS_ONLY
    wanted = labels_only(record.spec)
    if wanted == record.spec:
        return None
    mine = [one for one in executor.runs.list(record.owner) if one.owner == record.owner and one.spec == wanted]
    return mine[0].run_id if mine else None


def _followed(executor: Executor, teacher: RunRecord, run_ids: tuple[str, ...]) -> Iterator[Distilled | None]:
    last: tuple[RunRecord, ...] = ()
    for compared in follow_all(executor.runs, run_ids):
        last = compared.records if compared else last
        yield Distilled(teacher, last) if compared else None
    if last and last[0].outcome is not None:
        sizes = executor.submit_for_runs(MEASURE, MeasureParams((teacher.run_id, *run_ids))).result()
        yield Distilled(teacher, last, sizes)


def ablate(executor: Executor, params: AblationParams, owner: str) -> Iterator[Ablated | None]:
    """Queue the ablation's runs, all with one seed, and follow them (Sanh et al. 2019, Table 4)."""
    teacher = executor.runs.get(str(params.teacher))
    started = tuple(executor.runs.start(one.spec, owner) for one in params.of(teacher))
    for compared in follow_all(executor.runs, started):
        yield Ablated(teacher, compared.records) if compared else None


def require_success(result: Distilled | Ablated) -> None:
    """Raise ExplorerError with a failed run's own message."""
    for record in result.students if isinstance(result, Distilled) else result.records:
        if record.status in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise ExplorerError(f"{record.name}: {record.message}")
