"""A task as its card shows it: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.params import params
from explorer.tuning.spec import Task


@params
class CardParams:
    """Which task: bundled, of the hub, or a visitor's file."""

    task: Task = "sst2"


@dataclass(frozen=True)
class Row:
    """One example. label: the class's name, or the score of a regression; None for a plain text."""

    text: str
    second: str | None
    label: str | float | None


@dataclass(frozen=True)
class TaskCard:
    """A task and its first rows.

    columns: what its texts are called. classes: each with its share of the training examples; empty for a regression.
    metrics: names in explorer.tasks.metrics.METRICS. held_out: examples of each validation split. examples: one of each
    class where there are several, spread over the range of a regression. rows: the first of the training file.
    """

    title: str
    question: str
    source: str
    columns: tuple[str, ...]
    classes: tuple[tuple[str, float], ...]
    metrics: tuple[str, ...]
    train: int
    held_out: tuple[tuple[str, int], ...]
    examples: tuple[Row, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...]
