"""The definition of a task: its texts, its labels and its metrics, its examples, and an answer that was judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CLASSES, MASKED, WRITTEN, SPAN = "classes", "masked", "written", "span"
"""Kinds of tasks: a class or a score for each text; hidden words of a text; a text for each meaning; an answer in a text."""

NO_ANSWER = -1.0
"""The label of a question that its text does not answer; the label of any other is the answer's first character."""


@dataclass(frozen=True)
class Task:
    """One task, without its examples.

    slug: its name in endpoints and folders. columns: the names of its one or two texts. labels: the classes in the
    order of their numbers; empty if there are none. metrics: names in explorer.tasks.metrics.METRICS, the leading one
    first. kind: what is learned, and so which head learns it; see explorer.tuning.kinds.
    """

    slug: str
    title: str
    question: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    source: str
    kind: str = CLASSES

    @property
    def masked(self) -> bool:
        """Whether it is a plain text without labels, whose hidden words are to be guessed."""
        return self.kind == MASKED

    @property
    def is_pair(self) -> bool:
        """Whether the model reads two texts."""
        return len(self.columns) == 2

    @property
    def is_regression(self) -> bool:
        """Whether the label is a score rather than a class."""
        return not self.labels and self.kind == CLASSES

    @property
    def outputs(self) -> int:
        """How many numbers the head gives: one a class, or one score."""
        return len(self.labels) or 1


@dataclass(frozen=True)
class Example:
    """One row: `label` is a class's number, the score of a regression, or where in `second` the answer of a span
    begins.

    answers: the right texts, if answers are texts: the references of a meaning, or the accepted answers of a question.
    """

    text: str
    second: str | None
    label: float
    answers: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskData:
    """A task with its examples.

    name: the one given to explorer.tasks.sources.load. validation: one held-out split, or several by name (MNLI's
    matched and mismatched), the leading one first. notes: what a reader had to skip or mend, in sentences.
    """

    task: Task
    name: str
    train: tuple[Example, ...]
    validation: Mapping[str, tuple[Example, ...]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskCard:
    """A task without its examples: enough to queue a run.

    name, notes: as in TaskData.
    """

    task: Task
    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Judged:
    """A judged answer. asked: a meaning or a question. context: the text that the answer stands in. right: references
    or accepted answers. said: the model's answer.

    score: of this one answer by the leading metric, in [0, 1]; None if the metric has no value for a single answer.
    """

    asked: str
    context: str | None
    right: tuple[str, ...]
    said: str
    score: float | None = None
