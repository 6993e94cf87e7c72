"""Records as the backend keeps them, and zips as a student opens them."""

from __future__ import annotations

import zipfile
from pathlib import Path

from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.tasks.task import Task
from explorer.tuning.adapted import Adapted
from tests.tuning.small import CATS


def record(adapted: Adapted, task: Task = CATS, name: str = "A run") -> RunRecord:
    outcome = Outcome({"validation": {"accuracy": 0.75, "f1": None}}, {"validation": 7})
    return RunRecord(
        "run-1", "me", adapted.spec, RunStatus.DONE, 0.0, name, task.title, task.labels, task.metrics,
        step=30, seconds=4.2, trainable=10, parameters=100, outcome=outcome, columns=task.columns,
        scale=(540.0, 14.0) if task.is_regression else (0.0, 1.0),
    )  # fmt: skip


def unpacked(path: Path) -> Path:
    folder = path.with_suffix("")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder
