"""Runs and models as jobs receive them, without an engine: a teacher and a student of every family, all tiny."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from explorer.models.loaded_model import LoadedModel
from explorer.runs.open import OpenRun, OpenRuns
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.tuning.adapted import Adapted

LABELS = ("no", "yes")


def record(adapted: Adapted, run_id: str, **changes: Any) -> RunRecord:
    values: dict[str, Any] = {
        "labels": LABELS,
        "columns": ("text",),
        "metrics": ("accuracy",),
        "task_title": "Cats",
        **changes,
    }
    return RunRecord(run_id, "ada", adapted.spec, RunStatus.DONE, 0.0, f"run {run_id}", **values)


class Opening:
    """Stands for OpenRuns: `runs` by id, as (record, adapted), and `models` by id."""

    def __init__(
        self,
        folder: Path,
        runs: Mapping[str, tuple[RunRecord, Adapted]],
        models: Mapping[str, LoadedModel] | None = None,
    ) -> None:
        self.folder, self.runs, self.models = folder, runs, models or {}
        (folder / WEIGHTS).touch()

    def __call__(self, run_id: str) -> OpenRun:
        kept, adapted = self.runs[run_id]
        fixed: Callable[[], Any] = lambda: adapted  # noqa: E731
        return OpenRun(kept, self.folder, lambda: adapted.loaded, fixed, fixed)

    def model(self, model_id: str) -> LoadedModel:
        return self.models[model_id]


def opening(folder: Path, models: Mapping[str, LoadedModel] | None = None, **adapted: Adapted) -> OpenRuns:
    runs = {name: (record(one, name), one) for name, one in adapted.items()}
    return cast(OpenRuns, Opening(folder, runs, models))
