"""The distillation lab's live actions: they start students and say how these stand."""

from __future__ import annotations

from collections.abc import Iterator

from explorer.backend.executor import Executor, Job
from explorer.backend.runs.examples import COMPANIONS
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
from explorer.settings import settings
from explorer.tasks.sources import keep_text, load
from explorer.tuning.students import is_student, labels_only

MEASURE = Job("explorer.labs.distillation.measuring:measure")


def distill(executor: Executor, params: DistillParams, owner: str) -> Iterator[Distilled | None]:
    """Start a student, and the same one without a teacher's help; follow both, then weigh and time them."""
    text = _text_of(params)
    teacher = None if text else executor.runs.get(str(params.teacher))
    specs = params.specs(teacher) if teacher else params.text_specs(text)
    yield from _followed(executor, teacher, tuple(executor.runs.start(spec, owner) for spec in specs))


def _text_of(params: DistillParams | AblationParams) -> str:
    """The task that a plain text makes; empty where the teacher's own task, or another with labels, is meant."""
    if params.text.strip():
        return keep_text(params.text, settings()).name
    return params.task if params.task and load(params.task, settings()).task.masked else ""


def follow_student(executor: Executor, params: FollowStudentParams, owner: str) -> Iterator[Distilled | None]:
    """A student that was started earlier, with its companion on labels alone where there is one."""
    record = executor.runs.get(str(params.run))
    if not is_student(record.spec):
        raise BadInputError(f"{record.name} is no student. Choose a run that was started on this page.")
    teacher = executor.runs.get(record.spec.teacher) if record.spec.teacher else None
    companion = _companion(executor, record)
    yield from _followed(executor, teacher, (record.run_id, *([companion] if companion else [])))


def _companion(executor: Executor, record: RunRecord) -> str | None:
    """The run of the same owner with the same settings on labels alone; the newest of several."""
    if record.run_id in COMPANIONS:
        return COMPANIONS[record.run_id]
    wanted = labels_only(record.spec)
    if wanted == record.spec:
        return None
    mine = [one for one in executor.runs.list(record.owner) if one.owner == record.owner and one.spec == wanted]
    return mine[0].run_id if mine else None


def _followed(executor: Executor, teacher: RunRecord | None, run_ids: tuple[str, ...]) -> Iterator[Distilled | None]:
    last: tuple[RunRecord, ...] = ()
    for compared in follow_all(executor.runs, run_ids):
        last = compared.records if compared else last
        yield Distilled(teacher, last) if compared else None
    if last and last[0].outcome is not None:
        asked = MeasureParams((teacher.run_id, *run_ids)) if teacher else MeasureParams(run_ids, whole=True)
        sizes = executor.submit_for_runs(MEASURE, asked).result()
        yield Distilled(teacher, last, sizes)


def ablate(executor: Executor, params: AblationParams, owner: str) -> Iterator[Ablated | None]:
    """Queue the ablation's runs, all with one seed, and follow them (Sanh et al. 2019, Table 4)."""
    text = _text_of(params)
    teacher = None if text else executor.runs.get(str(params.teacher))
    lines = params.of(teacher) if teacher else params.of_text(text)
    started = tuple(executor.runs.start(one.spec, owner) for one in lines)
    for compared in follow_all(executor.runs, started):
        yield Ablated(teacher, compared.records) if compared else None


def require_success(result: Distilled | Ablated) -> None:
    """Raise ExplorerError with a failed run's own message."""
    for record in result.students if isinstance(result, Distilled) else result.records:
        if record.status in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise ExplorerError(f"{record.name}: {record.message}")
