"""The record of a run in plain values: pages draw it, the database keeps it, scripts print it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from explorer.scratch.spec import METHOD as SCRATCH
from explorer.scratch.spec import Said, ScratchSpec
from explorer.tasks.task import CLASSES, Judged
from explorer.tuning.methods import find_method
from explorer.tuning.spec import QUICK_ROWS, RunSpec


class RunStatus(StrEnum):
    """The state of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    STOPPED = "stopped"
    CANCELLED = "cancelled"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    IMPORTED = "imported"
    DAMAGED = "damaged"

    @property
    def is_active(self) -> bool:
        """Whether the run will still change by itself."""
        return self in (RunStatus.QUEUED, RunStatus.RUNNING)

    @property
    def has_weights(self) -> bool:
        """Whether there is something trained to try."""
        return self in (RunStatus.DONE, RunStatus.STOPPED, RunStatus.IMPORTED)


@dataclass(frozen=True)
class Wrong:
    """A held-out example that the model got wrong. probability: the model's, of its prediction (None for scores)."""

    text: str
    second: str | None
    label: float
    predicted: float
    probability: float | None


@dataclass(frozen=True)
class Outcome:
    """The scores of a finished run, on all held-out rows of the leading split.

    metrics: by split, then by metric. rows: how many examples each split has, or hidden words if it is a plain text.
    confusion: rows are true classes, columns predicted ones; empty for a regression.

    points: (label, predicted) of a regression, at most a few hundred. wrong: the most confident mistakes first.

    truths, answers: the label and the prediction for every row of the leading split, in its order: class numbers,
    scores or tokens with a space between them. Empty in older records, and if answers are texts: then `judged` has the
    first of them.
    """

    metrics: dict[str, dict[str, float | None]]
    rows: dict[str, int]
    confusion: tuple[tuple[int, ...], ...] = ()
    points: tuple[tuple[float, float], ...] = ()
    wrong: tuple[Wrong, ...] = ()
    truths: str = ""
    answers: str = ""
    judged: tuple[Judged, ...] = ()


def row_by_row(values: Iterable[float]) -> str:
    """Join labels or answers to the string that an Outcome keeps."""
    # Six digits tell apart what any metric does, and a class or a token is an integer below a million.
    return " ".join(f"{value:.6g}" for value in values)


@dataclass(frozen=True)
class OnRealTask:
    """The score of a bundled task's run on the real task's file, measured once by `command`.

    title: of the task. file, sha256: which file. rows: how many examples it has.
    """

    title: str
    file: str
    sha256: str
    rows: int
    metrics: dict[str, float | None]
    date: str
    command: str


@dataclass(frozen=True)
class Measured:
    """A metric at a step. whole: whether it was measured on all held-out rows, rather than on the first QUICK_ROWS."""

    step: int
    value: float | None
    whole: bool


def without_task(name: str) -> str:
    """Return a run's name without its task."""
    return name.split(" · ")[0]


def told_apart(name: str, names: Iterable[str]) -> str:
    """Return a run's name among others' without its task, if they are told apart without it."""
    short = list(map(without_task, names))
    return without_task(name) if len(set(short)) == len(short) else name


@dataclass(frozen=True)
class RunRecord:
    """One run. A record is replaced, never changed, so that any thread may read it.

    losses: (step, loss). evaluations: (step, metrics on held-out rows). whole: the steps at which all held-out rows
    were measured, and not only the first. held_out: how many there are (texts if they are plain text); 0 in older
    records.

    real: what a worked example of a bundled task scores on the real task's file.

    place: how many runs train before this one does.

    reference: what the teacher of a student on plain text scores on the same held-out words.

    seconds: of training so far. seconds_left: of training, or until a waiting run begins. memory_bytes: of the whole
    server when last measured. version: grows with each change.

    examples: how many are trained on; 0 in older records. said: the samples that a model that pretrains has given so
    far.

    kind: of the task, see explorer.tuning.kinds.

    kept: the step whose weights an ended run has, if it keeps its best one; 0 for the last.

    saved: the last step at which a checkpoint was due, and this record with it.

    heard: when the machine that trains the run was last heard, in seconds since 1970; 0 if the server trains it itself.
    """

    run_id: str
    owner: str
    spec: RunSpec
    status: RunStatus
    created: float
    name: str
    task_title: str = ""
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    step: int = 0
    steps: int = 0
    steps_per_epoch: int = 0
    losses: tuple[tuple[int, float], ...] = ()
    evaluations: tuple[tuple[int, dict[str, float | None]], ...] = ()
    place: int = 0
    rate: float = 0.0
    seconds: float = 0.0
    seconds_left: float | None = None
    memory_bytes: int = 0
    trainable: int = 0
    parameters: int = 0
    checkpoint_bytes: int = 0
    memory_estimate: int = 0
    snapshots: tuple[int, ...] = ()
    message: str = ""
    notes: tuple[str, ...] = ()
    outcome: Outcome | None = None
    process: tuple[int, float] = (0, 0.0)
    version: int = 0
    scale: tuple[float, float] = (0.0, 1.0)
    columns: tuple[str, ...] = ()
    listed: bool = True
    reference: dict[str, float] = field(default_factory=dict)
    whole: tuple[int, ...] = ()
    held_out: int = 0
    real: tuple[OnRealTask, ...] = ()
    examples: int = 0
    said: tuple[Said, ...] = ()
    kind: str = CLASSES
    kept: int = 0
    saved: int = 0
    heard: float = 0.0

    def evolve(self, **changes: Any) -> RunRecord:
        """Return a newer version of this record."""
        return replace(self, version=self.version + 1, **changes)

    @property
    def short_name(self) -> str:
        """The run's name without its task: what it does, by which runs on one task are told apart."""
        return without_task(self.name)

    @property
    def from_nothing(self) -> bool:
        """Whether the run makes a model of its own, and does not adapt another."""
        return isinstance(self.spec, ScratchSpec)

    @property
    def whose(self) -> str:
        """A name for the owner that gives nothing away: whoever knows the owner's own name can stop and delete the run."""
        return f"visitor {hashlib.sha256(self.owner.encode()).hexdigest()[:4]}"

    @property
    def leading_metric(self) -> str:
        """The name of the metric that runs of this task are compared by."""
        return self.metrics[0] if self.metrics else "accuracy"

    @property
    def score(self) -> float | None:
        """The leading metric: at the end if the run has ended, else where it was last measured."""
        if self.outcome is not None and self.outcome.metrics:
            return next(iter(self.outcome.metrics.values())).get(self.leading_metric)
        return self.evaluations[-1][1].get(self.leading_metric) if self.evaluations else None

    @property
    def between(self) -> int | None:
        """How many held-out rows are measured between the start and the end; None if all are."""
        known = self.held_out or (next(iter(self.outcome.rows.values()), 0) if self.outcome else 0)
        return QUICK_ROWS if not known or known > QUICK_ROWS else None

    def measured(self, name: str) -> tuple[Measured, ...]:
        """Return a metric's curve; its point at the kept step, or else at the last, is what the finished run scores."""
        points = {step: values.get(name) for step, values in self.evaluations}
        whole = set(points) if self.between is None else set(self.whole)
        if self.outcome is not None and self.outcome.metrics:
            at = self.kept or self.step
            points[at] = next(iter(self.outcome.metrics.values())).get(name)
            whole.add(at)
        return tuple(Measured(step, points[step], step in whole) for step in sorted(points))

    def rows_at(self, point: Measured) -> str:
        """Return on which rows a point was measured, as a label says it."""
        return "all held-out rows" if point.whole else f"the first {self.between} held-out rows"

    @property
    def keeps_snapshots(self) -> bool:
        """Whether ΔW is kept as the run trains: only if it is of low rank, and so small."""
        return find_method(self.spec.method).low_rank and self.spec.variant != "dora"

    def to_json(self) -> str:
        """Return the whole record as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> RunRecord:
        """Read a record from what to_json wrote, in this version or an earlier one."""
        values = json.loads(text)
        values.setdefault("whole", ())  # absent from records of earlier versions
        values["real"] = tuple(OnRealTask(**one) for one in values.get("real", ()))
        values["spec"] = _spec(values["spec"])
        values["said"] = tuple(_said(one) for one in values.get("said", ()))
        values["status"] = RunStatus(values["status"])
        values["outcome"] = _outcome(values["outcome"])
        for name in ("losses", "evaluations"):  # JSON has no tuples
            values[name] = tuple(tuple(entry) for entry in values[name])
        for name in ("labels", "metrics", "snapshots", "notes", "process", "scale", "columns", "whole"):
            values[name] = tuple(values[name])
        return cls(**values)


TRAIN_AGAIN = "Delete this run and train it again; the other runs are not affected."


def damaged(
    run_id: str, owner: str, created: object, error: Exception, place: str = "runs/runs.sqlite", so: str = TRAIN_AGAIN
) -> RunRecord:
    """Return a record that stands for a run whose own, in `place`, cannot be read: it is listed and says so.

    so: a sentence on what to do about it.
    """
    return RunRecord(
        run_id=run_id,
        owner=owner,
        spec=RunSpec("unknown"),
        status=RunStatus.DAMAGED,
        created=created if isinstance(created, float) else 0.0,
        name=f"Run {run_id}",
        message=f"Its record in {place} cannot be read ({str(error)[:80]}). {so}",
    )


def _spec(values: dict[str, Any]) -> RunSpec:
    return ScratchSpec(**values) if values.get("method") == SCRATCH else RunSpec(**values)


def _said(values: dict[str, Any]) -> Said:
    lists = {name: tuple(values[name]) for name in ("tokens", "probabilities")}
    return Said(**{**values, **lists})


def _outcome(values: dict[str, Any] | None) -> Outcome | None:
    if values is None:
        return None
    return Outcome(
        values["metrics"],
        values["rows"],
        tuple(tuple(row) for row in values["confusion"]),
        tuple((point[0], point[1]) for point in values["points"]),
        tuple(Wrong(**one) for one in values["wrong"]),
        values.get("truths", ""),
        values.get("answers", ""),
        tuple(Judged(**{**one, "right": tuple(one["right"])}) for one in values.get("judged", ())),
    )
