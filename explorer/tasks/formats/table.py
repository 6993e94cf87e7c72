"""A visitor's own table: CSV, TSV or JSON lines, with one or two columns of text and one of labels.

The columns are told by their names, else by what they hold. Labels are classes if they are words or a few whole
numbers, and scores otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.given import HELD_NAME, Content, Given, Parts, hold_out_texts
from explorer.tasks.read_file import Grid, Place, Row, checked_example, read_grid, short_name
from explorer.tasks.task import Example, Task

MOST_NAMED = 6
"""How many classes a question lists by name at most."""

LABEL_NAMES = (
    "label", "labels", "gold_label", "class", "classes", "category", "target", "sentiment", "is_duplicate",
    "quality", "score", "rating", "stars", "similarity", "emotion", "intent", "topic", "y",
)  # fmt: skip
"""Names of a label's column, the likeliest first: a table with a label and a score is taken for a classification."""

PAIR_NAMES = (
    ("sentence1", "sentence2"),
    ("sentence_a", "sentence_b"),
    ("text1", "text2"),
    ("text_a", "text_b"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("question", "answer"),
    ("question", "context"),
    ("query", "passage"),
    ("#1 string", "#2 string"),
)
TEXT_NAMES = (
    "text", "sentence", "review", "comment", "tweet", "message", "content", "body", "document", "question", "title",
    "phrase",
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]")

MOST_CLASSES = 20
LONGEST_LABEL = 100
LARGEST_WHOLE = 2.0**53
"""Above this not every whole number has a float of its own."""


def recognises(text: str) -> bool:
    """Return True: any text is taken for a table, since this format is tried last."""
    return True


def read(given: Given) -> Content:
    """Read the files. Raises BadInputError with the line, what is wrong with it and what to do."""
    table = read_separated(given.text, given.title)
    other = given.validation
    validation = None if other is None else read_separated(other, HELD_NAME, like=table).examples
    texts = " and ".join(short_name(name) or "(no name)" for name in table.texts)
    kind = f"{len(table.classes)} classes" if table.classes else "a score"
    notes = (f"Text: {texts}. Label: {short_name(table.label) or '(no name)'}, {kind}.",)
    return Content(table.task(given.name, given.title), table.examples, validation, notes)


def hold_out(content: Content, name: str) -> Parts:
    """Hold out a fifth of the texts, of each class if there are classes."""
    return hold_out_texts(content.train, bool(content.task.labels), name)


@dataclass(frozen=True)
class Separated:
    """The contents of a table. texts, label: names of the columns used. classes: empty if the label is a score."""

    texts: tuple[str, ...]
    label: str
    classes: tuple[str, ...]
    examples: tuple[Example, ...]

    def task(self, slug: str, title: str) -> Task:
        """Return the table's task: accuracy and Matthews for classes, F1 too for two of them, correlations for a score."""
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

    like: the training file, if this is a validation file, which must have the same columns and no other classes. Raises
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


@dataclass(frozen=True)
class Columns:
    """Indices in a grid's header: one or two texts, in the order in which a model reads them, and the label."""

    texts: tuple[int, ...]
    label: int


def choose_columns(grid: Grid) -> Columns:
    """Choose the columns of text and label. Raises BadInputError if the table leaves this open, with the names that
    would settle it.
    """
    names = [name.casefold() for name in grid.header]
    label = next((names.index(name) for name in LABEL_NAMES if name in names), None)
    if label is None:
        label = max(place for place, name in enumerate(names) if name or place == 0)  # the last column with a name
        _check_header_is_one(grid, label)
    return Columns(_texts(grid, names, label), label)


def _texts(grid: Grid, names: list[str], label: int) -> tuple[int, ...]:
    for first, second in PAIR_NAMES:
        if first in names and second in names and names[label] not in (first, second):
            return names.index(first), names.index(second)
    named = [names.index(name) for name in TEXT_NAMES if name in names and names.index(name) != label]
    if named:
        return (named[0],)
    written = [place for place in range(len(names)) if place != label and _share(grid.column(place), _has_words) > 0.5]
    # A column of single words is rather an id or a category than a text.
    phrases = [place for place in written if _share(grid.column(place), _is_phrase) > 0.5] or written
    if not phrases:
        raise BadInputError(
            f"{grid.name} has no column of text beside the label, {short_name(grid.header[label])}. Call it text, or two "
            "of them sentence1 and sentence2."
        )
    if len(phrases) > 2:
        found = ", ".join(short_name(grid.header[place] or f"(column {place + 1})") for place in phrases[:6])
        raise BadInputError(
            f"{grid.name} has {len(phrases)} columns of text ({found}). Call the one to read text, or the two sentence1 "
            "and sentence2."
        )
    return tuple(phrases)


def _check_header_is_one(grid: Grid, label: int) -> None:
    """Raise BadInputError if the first line seems to be an example: its last cell then looks like the others."""
    cell, values = grid.header[label], grid.column(label)
    if cell in values or all(value is not None and math.isfinite(value) for value in map(number, (cell, *values))):
        raise BadInputError(
            f"{grid.name}, line 1: this looks like an example ({short_name(cell)} is a label further down), and the "
            "first line should name the columns. Put a line such as text,label above it."
        )


def number(cell: str) -> float | None:
    """Return a cell as a number, which may be NaN or infinity; None for anything else."""
    try:
        return float(cell)
    except ValueError:
        return None


def _share(cells: list[str], test: Callable[[str], bool]) -> float:
    filled = [cell for cell in cells if cell.strip()]
    return sum(map(test, filled)) / len(filled) if filled else 0.0


def _has_words(cell: str) -> bool:
    return _WORD.search(cell) is not None


def _is_phrase(cell: str) -> bool:
    return len(cell.split()) > 1


@dataclass(frozen=True)
class Labels:
    """The labels of a table. classes: names in the order of their numbers, empty for scores. values: one a row, a
    class's number or a score.
    """

    classes: tuple[str, ...]
    values: tuple[float, ...]


def read_labels(grid: Grid, column: int) -> Labels:
    """Read labels: text becomes classes in sorted order, and so do whole numbers with at most MOST_CLASSES different
    values; others are scores.

    Raises BadInputError for a missing label, for NaN and infinity, and for more classes than MOST_CLASSES.
    """
    cells = _cells(grid, column)
    numbers = [number(cell) for cell in cells]
    scores = [value for value in numbers if value is not None]
    if len(scores) < len(cells):  # some cell is no number
        classes = tuple(sorted(set(cells)))
        if len(classes) > MOST_CLASSES:
            raise BadInputError(_too_many(grid, column, classes, cells, numbers))
        return Labels(classes, tuple(float(classes.index(cell)) for cell in cells))
    distinct = sorted(set(scores))
    if len(distinct) <= MOST_CLASSES and all(value == int(value) and abs(value) < LARGEST_WHOLE for value in distinct):
        classes = tuple(str(int(value)) for value in distinct)
        return Labels(classes, tuple(float(distinct.index(value)) for value in scores))
    return Labels((), tuple(scores))


def read_labels_like(grid: Grid, column: int, classes: tuple[str, ...]) -> Labels:
    """Read the labels of a second file, which must be those of the first: its classes, or scores if it has none.

    Raises BadInputError as read_labels.
    """
    values: list[float] = []
    for row, cell in zip(grid.rows, _cells(grid, column), strict=True):
        place, value = Place(grid.name, row.line), number(cell)
        if not classes:
            if value is None:
                raise place.wrong(f"the label {cell!r}, where the training file has numbers", "Write a number.")
            values.append(value)
            continue
        # "1.0" is the class "1".
        name = str(int(value)) if cell not in classes and value is not None and value == int(value) else cell
        if name not in classes:
            raise place.wrong(
                f"the label {cell!r}, which the training file does not have", f"Write one of {', '.join(classes)}."
            )
        values.append(float(classes.index(name)))
    return Labels(classes, tuple(values))


def _cells(grid: Grid, column: int) -> list[str]:
    """Return the labels without spaces around them, each checked. Raises BadInputError."""
    cells = []
    for row in grid.rows:
        cell, place = row.cells[column].strip(), Place(grid.name, row.line)
        if not cell:
            raise place.wrong(
                f"no label in the column {short_name(grid.header[column])}", "Add it, or take the line out."
            )
        if len(cell) > LONGEST_LABEL:
            raise place.wrong(
                f"a label of {len(cell):,} characters in the column {short_name(grid.header[column])}",
                "If another column holds the labels, call it label.",
            )
        value = number(cell)
        if value is not None and not math.isfinite(value):
            raise place.wrong(f"the label {cell!r} is not a finite number", "Write a number, or take the line out.")
        cells.append(" ".join(cell.split()))
    return cells


def _too_many(grid: Grid, column: int, classes: tuple[str, ...], cells: list[str], numbers: list[float | None]) -> str:
    """Return the message for too many classes: one stray word among numbers, or a column that holds no classes at all."""
    stray = [place for place, value in enumerate(numbers) if value is None]
    if len(stray) < len(cells) / 10:
        line, cell = grid.rows[stray[0]].line, cells[stray[0]]
        return (
            f"{grid.name}, line {line:,}: the label {cell!r} is not a number, as most others are. Write a number there."
        )
    return (
        f"{grid.name} has {len(classes):,} different labels in the column {short_name(grid.header[column])}; at most "
        f"{MOST_CLASSES} classes are taken. If another column holds the labels, call it label."
    )
