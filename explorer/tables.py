"""The table behind a figure: what the page shows under "Data", what an endpoint returns last, what a script prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
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
    def each(cls, items: Iterable[T], **columns: Callable[[T], Cell]) -> Table:
        """A row for each item; a column is called as the keyword, and holds what its function says of the item."""
        return cls(tuple(columns), tuple(tuple(of(item) for of in columns.values()) for item in items))

    def __str__(self) -> str:
        """Aligned text; numbers with six significant digits, and a token that is a line break as \\n."""
        lines = [self.columns, *(tuple(_shown(cell) for cell in row) for row in self.rows)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )


def _shown(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(cell))


def short(cell: Cell) -> str:
    """A cell as a page shows it: four significant digits, of a large number all before the point."""
    if isinstance(cell, float) and math.isfinite(cell):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.4g}"
    return "" if cell is None else str(cell)
