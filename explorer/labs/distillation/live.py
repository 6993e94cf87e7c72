"""The distillation lab's live actions: they start students and say how these stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from explorer.engine.protocol import Engine, Job
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.distillation.params import AblationParams, DistillParams, FollowStudentParams, TimedStudentParams
from explorer.labs.distillation.train import Ablated, Distilled, MeasureParams, Seeded
from explorer.runs.comparing import follow_all
from explorer.runs.examples import COMPANIONS, EVERY, FEW
from explorer.runs.record import RunRecord
from explorer.runs.seeds import repeated
from explorer.settings import settings
from explorer.tasks.sources import card, keep_text
from explorer.tuning.students import is_student, labels_only

MEASURE = Job("explorer.labs.distillation.train_jobs:measure", on="runs")


def distill(engine: Engine, params: DistillParams, owner: str) -> Iterator[Distilled | None]:
    """Start a student, and the same one without a teacher's help, for each seed; follow all, then weigh and time the
    first.
    """
    text = _text_of(params)
    teacher = None if text else engine.runs.get(str(params.teacher))
    specs = params.specs(teacher) if teacher else params.text_specs(text)
    started = tuple(tuple(engine.runs.start(spec, owner) for spec in of_seed) for of_seed in params.every_seed(specs))
    yield from _followed(engine, teacher, started)


def _text_of(params: DistillParams | AblationParams) -> str:
    """Return the task that a plain text makes; "" if the teacher's own task, or another with labels, is meant."""
    if params.text.strip():
        return keep_text(params.text, settings()).name
    return params.task if params.task and card(params.task, settings()).task.masked else ""


def follow_student(engine: Engine, params: TimedStudentParams, owner: str) -> Iterator[Distilled | None]:
    """Follow a student that was started earlier, with its companion on labels alone if there is one, and both of other
    seeds.
    """
    record = _student(engine, params)
    mine = _with_companion(engine, record)
    others = tuple(pair for pair in seeds_of(engine, record) if pair[0] != record.run_id)
    yield from _followed(engine, _teacher_of(engine, record), (mine, *others), params.timed)


def student_seeds(engine: Engine, params: FollowStudentParams, owner: str) -> Iterator[Seeded | None]:
    """Follow a student of every seed that it was trained with, each with its companion, until all have ended."""
    record = _student(engine, params)
    teacher = _teacher_of(engine, record)
    pairs = seeds_of(engine, record)
    for compared in follow_all(engine.runs, tuple(run_id for pair in pairs for run_id in pair)):
        yield Seeded(teacher, _paired(compared.records, pairs)) if compared else None


def _paired(records: tuple[RunRecord, ...], pairs: tuple[tuple[str, ...], ...]) -> tuple[tuple[RunRecord, ...], ...]:
    left = iter(records)  # the runs come in the order in which they were asked for
    return tuple(tuple(next(left) for _ in pair) for pair in pairs)


def _student(engine: Engine, params: FollowStudentParams) -> RunRecord:
    record = engine.runs.get(str(params.run))
    if not is_student(record.spec):
        raise BadInputError(f"{record.name} is no student. Choose a run that was started on this page.")
    return record


def _teacher_of(engine: Engine, record: RunRecord) -> RunRecord | None:
    return engine.runs.get(record.spec.teacher) if record.spec.teacher else None


def seeds_of(engine: Engine, record: RunRecord) -> tuple[tuple[str, ...], ...]:
    """Return the same student with every seed that its owner has trained it with, by seed, each with its companion.

    Of several with one seed it is the newest one, or the record's own.
    """
    if record.run_id in COMPANIONS:  # bundled runs belong to nobody, so their table names them
        names = next((names for names in (FEW, EVERY) if record.run_id in names), (record.run_id,))
        pairs = [_with_companion(engine, record) if name == record.run_id else _bundled(engine, name) for name in names]
        return tuple(pair for pair in pairs if pair)
    found = {record.spec.seed: record}
    for one in _mine(engine, record):
        if replace(one.spec, seed=record.spec.seed) == record.spec:
            found.setdefault(one.spec.seed, one)  # the newest comes first, and keeps its place
    return tuple(_with_companion(engine, found[seed]) for seed in sorted(found))


def _bundled(engine: Engine, name: str) -> tuple[str, ...]:
    """Return a bundled student with its companion; () if one of the two is not there."""
    pair = (name, COMPANIONS[name])
    try:
        return tuple(engine.runs.get(run_id).run_id for run_id in pair)
    except ExplorerError:
        return ()


def _mine(engine: Engine, record: RunRecord) -> list[RunRecord]:
    """Return the runs of a record's owner, newest first."""
    return [one for one in engine.runs.list(record.owner) if one.owner == record.owner]


def _with_companion(engine: Engine, record: RunRecord) -> tuple[str, ...]:
    companion = _companion(engine, record)
    return (record.run_id, companion) if companion else (record.run_id,)


def _companion(engine: Engine, record: RunRecord) -> str | None:
    """Return the run of the same owner with the same settings on labels alone; the newest of several."""
    if record.run_id in COMPANIONS:
        return COMPANIONS[record.run_id] if _bundled(engine, record.run_id) else None
    wanted = labels_only(record.spec)
    if wanted == record.spec:  # it learns from labels alone itself
        return None
    return next((one.run_id for one in _mine(engine, record) if one.spec == wanted), None)


def _followed(
    engine: Engine, teacher: RunRecord | None, seeds: tuple[tuple[str, ...], ...], timed: bool = True
) -> Iterator[Distilled | None]:
    """Follow the runs of all seeds. seeds: the runs of each; the first one's are drawn, and weighed and timed if `timed`."""
    shown: Distilled | None = None
    for compared in follow_all(engine.runs, tuple(run_id for of_seed in seeds for run_id in of_seed)):
        if compared:
            first, *others = _paired(compared.records, seeds)
            others_of_all = tuple(record for pair in others for record in pair)
            shown = Distilled(teacher, first, others=others_of_all, timed=timed)
        yield shown if compared else None
    if timed and shown and shown.students[0].outcome is not None:  # timed last, when no run needs the processor
        runs = seeds[0]
        asked = MeasureParams((teacher.run_id, *runs)) if teacher else MeasureParams(runs, whole=True)
        yield replace(shown, sizes=engine.follow(MEASURE, asked).last.result())


def ablate(engine: Engine, params: AblationParams, owner: str) -> Iterator[Ablated | None]:
    """Queue the ablation's runs, all lines with each seed, and follow them (Sanh et al. 2019, Table 4)."""
    text = _text_of(params)
    teacher = None if text else engine.runs.get(str(params.teacher))
    lines = params.of(teacher) if teacher else params.of_text(text)
    started = tuple(engine.runs.start(spec, owner) for spec in repeated([one.spec for one in lines], params.seeds))
    for compared in follow_all(engine.runs, started):
        yield Ablated(teacher, compared.records) if compared else None
