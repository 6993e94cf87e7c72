"""The table behind a figure: what the page shows under "Data", what an endpoint returns last, what a script prints."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

Cell = str | int | float | None
T = TypeVar("T")


@dataclass(frozen=True)
class Table:
    """Named columns and rows of plain values."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> Table:
        """Build a table from any sequences."""
        return cls(tuple(columns), tuple(tuple(row) for row in rows))

    @classmethod
    def each(cls, items: Iterable[T], names: str = "", **columns: str | Callable[[T], Cell]) -> Table:
        """Build a row for each item. names: with spaces between them, of columns that are called as the item's attributes.

        Further columns by keyword, after these: an attribute by its name (`row.text` for one of its own), or a function of it.
        """
        read: dict[str, Callable[[T], Cell]] = {name: attrgetter(name) for name in names.split()}
        read |= {name: attrgetter(of) if isinstance(of, str) else of for name, of in columns.items()}
        return cls(tuple(read), tuple(tuple(of(item) for of in read.values()) for item in items))

    def largest(self, column: int, most: int) -> Table:
        """Return the rows with the largest numbers in a column, the first ones first, if the table has more than `most`."""
        if len(self.rows) <= most:
            return self
        return Table(self.columns, tuple(sorted(self.rows, key=lambda row: -float(row[column] or 0))[:most]))

    def __str__(self) -> str:
        """Return aligned text; numbers with six significant digits, and a token that is a line break as \\n."""
        return self.fitted(sys.maxsize)

    def fitted(self, width: int) -> str:
        """Return aligned text with no line longer than `width` characters: the widest columns are cut, and an ellipsis
        shows it.
        """
        lines = self.as_cells()
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        while sum(widths) + len(GAP) * (len(widths) - 1) > width and max(widths) > NARROWEST:
            widths[widths.index(max(widths))] -= 1
        cut = ([_cut(cell, most).ljust(most) for cell, most in zip(line, widths, strict=True)] for line in lines)
        return "\n".join(GAP.join(line).rstrip()[:width] for line in cut)

    def as_cells(self) -> list[tuple[str, ...]]:
        """Return the columns' names, then the rows, as texts."""
        return [self.columns, *(tuple(_shown(cell) for cell in row) for row in self.rows)]

    def as_csv(self) -> str:
        """Return CSV as spreadsheets read it, numbers in full; an empty cell is empty."""
        file = io.StringIO()
        csv.writer(file, lineterminator="\n").writerows([self.columns, *self.rows])
        return file.getvalue()

    def records(self) -> list[dict[str, Cell]]:
        """Return each row by the columns' names."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def as_json(self) -> str:
        """Return a list with one object for each row; what JSON has no number for is null."""
        rows = [{name: _plain(cell) for name, cell in row.items()} for row in self.records()]
        return json.dumps(rows, ensure_ascii=False, indent=1)


GAP = "  "
NARROWEST = 4
"""Characters below which no column is cut."""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _plain(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    # A token may be a line break, which would end the row.
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(cell))


def short(cell: Cell) -> str:
    """Return a cell as a page shows it: four significant digits, of a large number all before the point."""
    if isinstance(cell, float) and math.isfinite(cell):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.4g}"
    return "" if cell is None else str(cell)
