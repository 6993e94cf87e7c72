"""A visitor's own table as a task: its texts, and a label that is a class or a score."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.columns import Columns, choose_columns
from explorer.tasks.grid import Grid, Row, read_grid
from explorer.tasks.labels import read_labels, read_labels_like
from explorer.tasks.opening import Place, checked_example, short_name
from explorer.tasks.task import Example, Task

MOST_NAMED = 6
"""Classes that a question lists by name."""


@dataclass(frozen=True)
class Separated:
    """What a table holds. texts, label: names of the columns used. classes: empty if the label is a score."""

    texts: tuple[str, ...]
    label: str
    classes: tuple[str, ...]
    examples: tuple[Example, ...]

    def task(self, slug: str, title: str) -> Task:
        """The task that it makes: accuracy and Matthews for classes, F1 too for two of them, correlations for a score."""
        label = short_name(self.label) or "label"
        question = f"How high is the {label}?"
        metrics: tuple[str, ...] = ("pearson", "spearman")
        if self.classes:
            question = f"Which {label}: {', '.join(self.classes[:-1])} or {self.classes[-1]}?"
            if len(self.classes) > MOST_NAMED:
                question = f"Which {label}, of {len(self.classes)}?"
            metrics = ("accuracy", "f1", "matthews") if len(self.classes) == 2 else ("accuracy", "matthews")
        columns = tuple(short_name(name) or "text" for name in self.texts)
        return Task(slug, short_name(title), question, columns, self.classes, metrics, "A visitor's own file.")


def read_separated(text: str, name: str = "This file", like: Separated | None = None) -> Separated:
    """Read CSV, TSV or JSON lines with a header (JSON: keys), one or two columns of text and one of labels.

    like: the training file's, for a validation file, which must have its columns and no other classes. Raises
    BadInputError with the line, what is wrong with it and what to do.
    """
    grid = read_grid(text, name)
    if not grid.rows:
        raise BadInputError(f"{name} holds a header and no examples. Write an example on each line below it.")
    columns = choose_columns(grid) if like is None else _same_columns(grid, like)
    labels = read_labels(grid, columns.label) if like is None else read_labels_like(grid, columns.label, like.classes)
    examples = [_example(grid, row, columns, value) for row, value in zip(grid.rows, labels.values, strict=True)]
    texts = tuple(grid.header[place] for place in columns.texts)
    return Separated(texts, grid.header[columns.label], labels.classes, tuple(examples))


def _same_columns(grid: Grid, like: Separated) -> Columns:
    missing = [name for name in (*like.texts, like.label) if name not in grid.header]
    if missing:
        raise BadInputError(
            f"{grid.name} has no column {short_name(missing[0])}, which the training file has. Give both the same header."
        )
    return Columns(tuple(grid.header.index(name) for name in like.texts), grid.header.index(like.label))


def _example(grid: Grid, row: Row, columns: Columns, value: float) -> Example:
    place = Place(grid.name, row.line)
    texts = [checked_example(row.cells[column], place, grid.header[column]) for column in columns.texts]
    return Example(texts[0], texts[1] if len(texts) > 1 else None, value)
