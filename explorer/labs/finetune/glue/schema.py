"""GLUE's tasks with the run that is best on each, and a published row: plain data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import OneOf
from explorer.params import Shown, params
from explorer.published import lora

PUBLISHED = {row.name.replace(",", ""): row for row in lora.TABLE_2}
"""The rows of LoRA's Table 2, by the names that the endpoint knows them by."""


@params
class GlueParams:
    """Which published row the visitor's own runs stand beside."""

    beside: Annotated[
        str,
        OneOf(tuple(PUBLISHED), tuple(row.name for row in lora.TABLE_2)),
        Shown("Beside, from LoRA's Table 2", dropdown=True),
    ] = "RoBERTa-base LoRA 0.3M"


@dataclass(frozen=True)
class Reached:
    """The best run of a task. score: its leading metric times 100, on `rows` held-out examples.

    real: whether it was trained and is judged on GLUE's own files, rather than on the bundled sentences. worked: whether it is
    one of the app's examples. elsewhere: what a run of bundled sentences scores on so many rows of GLUE's own file, where
    that was measured.
    """

    run_id: str
    name: str
    model: str
    method: str
    score: float
    rows: int
    real: bool
    worked: bool
    elsewhere: tuple[float, int] | None = None


@dataclass(frozen=True)
class GlueTask:
    """One of the eight. name: GLUE's. training: how many examples GLUE has to learn from. published: the row's score."""

    name: str
    question: str
    metric: str
    training: str
    published: float
    reached: Reached | None


@dataclass(frozen=True)
class GlueResult:
    """All eight. beside: the published row, and its average as it is printed."""

    beside: str
    average: str
    tasks: tuple[GlueTask, ...]

    def there(self, real: bool) -> tuple[GlueTask, ...]:
        """The tasks that a run has been judged on: by GLUE's own files, or by the bundled sentences."""
        return tuple(task for task in self.tasks if task.reached is not None and task.reached.real is real)


def mean_reached(tasks: Iterable[GlueTask]) -> float:
    """GLUE's average, over tasks that all have a run."""
    return lora.average(task.reached.score for task in tasks if task.reached is not None)


def mean_published(tasks: Iterable[GlueTask]) -> float:
    """The published row's average over the same tasks."""
    return lora.average(task.published for task in tasks)
