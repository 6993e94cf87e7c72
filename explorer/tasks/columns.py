"""Which columns of a visitor's table are the texts and which is the label: by their names, else by what they hold."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.grid import Grid
from explorer.tasks.opening import short_name

LABEL_NAMES = (
    "label",
    "labels",
    "gold_label",
    "class",
    "classes",
    "category",
    "target",
    "sentiment",
    "is_duplicate",
    "quality",
    "score",
    "rating",
    "stars",
    "similarity",
    "emotion",
    "intent",
    "topic",
    "y",
)
"""The likeliest first: a table with a label and a score is taken for a classification."""

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
    "text",
    "sentence",
    "review",
    "comment",
    "tweet",
    "message",
    "content",
    "body",
    "document",
    "question",
    "title",
    "phrase",
)
_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Columns:
    """Places in a grid's header: one or two texts, in the order in which a model reads them, and the label."""

    texts: tuple[int, ...]
    label: int


def choose_columns(grid: Grid) -> Columns:
    """Raises BadInputError if the table leaves open which column is meant, with the names that would settle it."""
    names = [name.casefold() for name in grid.header]
    label = next((names.index(name) for name in LABEL_NAMES if name in names), None)
    if label is None:
        label = max(place for place, name in enumerate(names) if name or place == 0)
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
    """Where no column is called a label, the first line may be an example: its last cell then looks like the others."""
    cell, values = grid.header[label], grid.column(label)
    if cell in values or all(value is not None and math.isfinite(value) for value in map(number, (cell, *values))):
        raise BadInputError(
            f"{grid.name}, line 1: this looks like an example ({short_name(cell)} is a label further down), and the "
            "first line should name the columns. Put a line such as text,label above it."
        )


def number(cell: str) -> float | None:
    """A cell as a number, which may be NaN or infinity; None for anything else."""
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
