"""What a visitor's files hold, between a format's reader and a task: it is split into training and validation, its rows are
mixed, and there has to be enough of it to learn from.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from random import Random

from explorer.errors import BadInputError
from explorer.tasks.task import CLASSES, NO_ANSWER, SPAN, Example, Task

HELD_NAME = "The validation file"


@dataclass(frozen=True)
class Given:
    """One or two files that a visitor has uploaded, as text.

    name: of the task that they make. title: the first file's. task: the slug of the GLUE task whose layout the visitor
    says they have, or None. validation: the second file's text, or None if a fifth is to be held out.
    """

    name: str
    title: str
    text: str
    validation: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class Content:
    """The contents of the files. notes: what was skipped or mended, in sentences."""

    task: Task
    train: tuple[Example, ...]
    validation: tuple[Example, ...] | None
    notes: tuple[str, ...] = ()


FEWEST_EXAMPLES = 8
HELD_OUT = 5
"""One text in this many is held out."""

SEED = "bert-explorer 0"

Texts = tuple[str, str | None]
Parts = tuple[tuple[Example, ...], tuple[Example, ...]]
"""Training and validation."""


def check_enough(task: Task, examples: tuple[Example, ...], name: str) -> None:
    """Raise BadInputError for fewer than FEWEST_EXAMPLES, for one class or one score alone, and for no answer at all."""
    if not examples:
        raise BadInputError(f"{name} holds no examples. Write an example on each line below the header.")
    values = {example.label for example in examples}
    if task.kind == SPAN and values == {NO_ANSWER}:
        raise BadInputError(f"{name}: none of the {len(examples):,} questions has an answer. Add some that have one.")
    if task.kind == CLASSES and len(values) == 1:
        value = values.pop()
        if task.is_regression:
            raise BadInputError(f"{name}: all {len(examples):,} examples have the score {value:g}; scores must differ.")
        raise BadInputError(
            f"{name}: all {len(examples):,} examples are {task.labels[int(value)]!r}; a classifier needs at least two "
            "classes. Add examples of another."
        )
    if len(examples) < FEWEST_EXAMPLES:
        raise BadInputError(
            f"{name} has {len(examples)} examples, and training needs at least {FEWEST_EXAMPLES}. Add some more."
        )


def hold_out_texts(examples: tuple[Example, ...], by_class: bool, name: str) -> Parts:
    """Split into training and validation: a fifth of the different texts is held out, of each class if there are
    classes.

    Which texts are held out depends on them and SEED alone, not on the rows' order. Rows of one text stay together, so
    none of the validation is a copy of a training text. Raises BadInputError if all texts are the same.
    """
    classes: dict[float, list[Texts]] = defaultdict(list)
    seen: set[Texts] = set()
    for example in examples:
        texts = (example.text, example.second)
        if texts not in seen:
            seen.add(texts)
            classes[example.label if by_class else 0].append(texts)
    held: set[Texts] = set()
    for members in classes.values():
        if len(members) > 1:  # a class's only text stays in training
            held.update(sorted(members, key=_mark)[: max(1, round(len(members) / HELD_OUT))])
    if not held:
        raise BadInputError(f"{name} has too few different texts to hold some out for validation. Add some more.")
    train = tuple(example for example in examples if (example.text, example.second) not in held)
    return train, tuple(example for example in examples if (example.text, example.second) in held)


def mixed(examples: tuple[Example, ...]) -> tuple[Example, ...]:
    """Return the examples in an order that looks random and is always the same."""
    # Files are often sorted by class or by source, and runs take the first rows of a file.
    rows = list(examples)
    Random(SEED).shuffle(rows)
    return tuple(rows)


def shared_texts(train: tuple[Example, ...], validation: tuple[Example, ...]) -> int:
    """Return how many validation examples are copies of a training text, which makes a metric look better than it is."""
    known = {(example.text, example.second) for example in train}
    return sum((example.text, example.second) in known for example in validation)


def _mark(texts: Texts) -> bytes:
    """Return a hash that looks random and is always the same for the same texts."""
    return hashlib.sha256("\0".join((SEED, texts[0], texts[1] or "")).encode()).digest()
