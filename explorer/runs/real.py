"""A run of a bundled task on the real task's file, whose sentences are not the bundled ones; nothing of the file is kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

from explorer.errors import BadInputError
from explorer.runs.record import OnRealTask, RunRecord
from explorer.tasks.formats.glue import read_glue
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.metrics import scores
from explorer.tasks.task import Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.reading import Scale, decide, predict
from explorer.tuning.rows import tokenise
from explorer.tuning.spec import LONGEST_ROW


def real_file(record: RunRecord, glue: Path) -> Path | None:
    """Where a folder of GLUE, unpacked as it is distributed, has the validation file of a run's task; None without one."""
    task = _task_of(record)
    if task is None:
        return None
    names = ("dev.tsv", "dev_matched.tsv")
    return next((path for name in names if (path := glue / _name(task) / name).is_file()), None)


def on_real_task(record: RunRecord, adapted: Adapted, path: Path, date: str, command: str) -> OnRealTask:
    """Measure on every row of a file in GLUE's own layout, which nothing of the run has seen.

    Raises BadInputError for a run of another task than a bundled one, and for a file of another layout.
    """
    task = _task_of(record)
    if task is None:
        raise BadInputError(f"{record.name} has learned none of the bundled tasks, so GLUE has no file of its task.")
    examples = read_glue(path, task.slug).examples
    rows = tokenise(adapted.bundle, examples, min(LONGEST_ROW, adapted.longest))
    device = next(iter(adapted.model.parameters())).device
    predicted = decide(task, predict(adapted, rows, device), Scale(*record.scale))
    found = scores(task, rows.labels.tolist(), predicted)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return OnRealTask(_name(task), path.name, digest, len(rows), found, date, command)


def _task_of(record: RunRecord) -> Task | None:
    try:
        task = find_task(record.spec.task)
    except BadInputError:
        return None
    return task if task.labels == record.labels else None


def _name(task: Task) -> str:
    return task.title.split(" · ")[0]
