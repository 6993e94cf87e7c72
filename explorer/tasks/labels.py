"""What a column of labels says: classes, where it holds words or a few whole numbers, otherwise scores."""

from __future__ import annotations

import math
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.columns import number
from explorer.tasks.grid import Grid
from explorer.tasks.opening import Place, short_name

MOST_CLASSES = 20
LONGEST_LABEL = 100
LARGEST_WHOLE = 2.0**53
"""Above this not every whole number has a float of its own."""


@dataclass(frozen=True)
class Labels:
    """classes: names in the order of their numbers, empty for scores. values: one a row, a class's number or a score."""

    classes: tuple[str, ...]
    values: tuple[float, ...]


def read_labels(grid: Grid, column: int) -> Labels:
    """Text becomes classes in sorted order, whole numbers of which at most MOST_CLASSES differ too; others are scores.

    Raises BadInputError for a missing label, for NaN and infinity, and for more classes than MOST_CLASSES.
    """
    cells = _cells(grid, column)
    numbers = [number(cell) for cell in cells]
    scores = [value for value in numbers if value is not None]
    if len(scores) < len(cells):
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
    """As read_labels for a second file, whose labels must be those of the first: its classes, or scores where it has none."""
    values: list[float] = []
    for row, cell in zip(grid.rows, _cells(grid, column), strict=True):
        place, value = Place(grid.name, row.line), number(cell)
        if not classes:
            if value is None:
                raise place.wrong(f"the label {cell!r}, where the training file has numbers", "Write a number.")
            values.append(value)
            continue
        name = str(int(value)) if cell not in classes and value is not None and value == int(value) else cell
        if name not in classes:
            raise place.wrong(
                f"the label {cell!r}, which the training file does not have", f"Write one of {', '.join(classes)}."
            )
        values.append(float(classes.index(name)))
    return Labels(classes, tuple(values))


def _cells(grid: Grid, column: int) -> list[str]:
    """The labels without spaces around them, each checked."""
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
    """Either one stray word among numbers, or a column that holds no classes at all."""
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
