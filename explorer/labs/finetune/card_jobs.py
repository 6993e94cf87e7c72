"""A task's card: its examples are read, nothing is computed."""

from __future__ import annotations

from collections import Counter

from explorer.labs.finetune.card import CardParams, Row, TaskCard
from explorer.settings import settings
from explorer.tasks.sources import load
from explorer.tasks.task import SPAN, WRITTEN, Example, Task, TaskData

MOST_ROWS = 20
EXAMPLES = 3


def task_card(params: CardParams) -> TaskCard:
    """Tell what a task asks, where it is from, how it is measured, and its first rows.

    Raises BadInputError for a name that is no task, TaskUnavailableError if the hub has to be asked and cannot be.
    """
    data = load(params.task, settings())
    task = data.task
    counts = Counter(example.label for example in data.train)
    return TaskCard(
        task.title,
        task.question,
        task.source,
        task.columns,
        # Labels are read as floats.
        tuple((name, counts[float(number)] / len(data.train)) for number, name in enumerate(task.labels)),
        task.metrics,
        len(data.train),
        tuple((name, len(rows)) for name, rows in data.validation.items()),
        tuple(_row(task, example) for example in _examples(data)),
        tuple(_row(task, example) for example in data.train[:MOST_ROWS]),
        data.notes,
    )


def _row(task: Task, example: Example) -> Row:
    return Row(example.text, example.second, _label(task, example))


def _label(task: Task, example: Example) -> str | float | None:
    """Return what is right, as a reader of the card takes it: a class by its name, the first of several texts, or a
    score.
    """
    if task.masked:
        return None
    if task.kind in (SPAN, WRITTEN):
        return example.answers[0] if example.answers else "no answer"
    return task.labels[int(example.label)] if task.labels else example.label


def _examples(data: TaskData) -> list[Example]:
    """Choose three examples, of different classes or scores as far as there are: each the shortest of its kind."""
    if data.task.is_regression:
        ordered = sorted(data.train, key=lambda example: example.label)
        # The lowest, the middle and the highest.
        return [ordered[place * (len(ordered) - 1) // (EXAMPLES - 1)] for place in range(EXAMPLES)]
    kinds: dict[float, list[Example]] = {}
    for example in data.train:
        kinds.setdefault(example.label, []).append(example)
    short = [sorted(kinds[label], key=lambda example: len(example.text)) for label in sorted(kinds)]
    # One of each class before a second of any.
    rounds = [kind[turn] for turn in range(EXAMPLES) for kind in short if turn < len(kind)]
    return rounds[:EXAMPLES]
