"""Axes, panels, and the arrangement of panels beside and below each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from explorer.charts.traces import Mark, Trace

Axis = dict[str, Any]
Span = tuple[float, float]
Outputs = list[tuple[Span, Span]]
"""The extent of each panel, across and up, as shares of the figure."""

TICKS, TITLE, HEADING = 48, 36, 24
"""Pixels between two panels one below the other: for numbers and space, for an axis's title, for the next panel's title."""


def axis(
    title: str = "",
    *,
    log: bool = False,
    names: bool = False,
    down: bool = False,
    percent: bool = False,
    zero: bool = False,
    grid: bool = True,
    top: bool = False,
    span: Sequence[float] | None = None,
    size: int = 0,
    title_size: int = 0,
    standoff: int | None = None,
    outer: bool = False,
    **more: Any,
) -> Axis:
    """Return an axis; what is not given is Plotly's choice, and further keywords are its own.

    names: its values are names and not numbers, without lines. top: it stands above the panel. down: it runs from the
    top, or from the right. zero: it begins at 0. span: its ends, as powers of ten if it is logarithmic. size: of the
    numbers or names on it. standoff: of the title, in pixels. outer: of panels beside each other only the leftmost, and
    of panels below each other only the lowest shows the axis's title (and its names, beside each other).
    """
    about: Axis = {"text": title, **({"font": {"size": title_size}} if title_size else {})}
    about |= {} if standoff is None else {"standoff": standoff}
    chosen: Axis = {"title": about} if title else {}
    chosen |= {"type": "log" if log else "category"} if log or names else {}
    chosen |= {"autorange": "reversed"} if down else {}
    chosen |= {"tickformat": ".0%"} if percent else {}
    chosen |= {"rangemode": "tozero"} if zero else {}
    chosen |= {} if grid and not names else {"showgrid": False}
    chosen |= {"side": "top"} if top else {}
    chosen |= {"range": list(span)} if span is not None else {}
    chosen |= {"tickfont": {"size": size}} if size else {}
    chosen |= {"outer": True} if outer else {}
    return {**chosen, **more}


def rows(labels: Sequence[str], **more: Any) -> Axis:
    """Return the vertical axis of bars that stand at 0, 1, 2 and so on from the top, so that two of the same name stay two."""
    places = list(range(len(labels)))
    return axis(down=True, grid=False, tickmode="array", tickvals=places, ticktext=list(labels), **more)


@dataclass(frozen=True)
class Panel:
    """One pair of axes with what is drawn on them.

    x, y: its axes; None for that of the panel before it, which is then drawn once for both. title: at its upper left
    corner. marks: made by `level`, `frame` and `note`. width, height: relative to those of the others in its row or
    column. air: pixels between it and the panel above it, if they differ from what numbers and titles usually need.
    alone: its axes, title and marks on a phone, if they differ.
    """

    traces: Sequence[Trace]
    x: Axis | None = field(default_factory=dict)
    y: Axis | None = field(default_factory=dict)
    title: str = ""
    marks: Sequence[Mark] = ()
    width: float = 1.0
    height: float = 1.0
    air: int | None = None
    alone: Panel | None = None


Parts = Panel | Sequence["Parts"]
"""A tree of panels. Its top level stands side by side, the next level below each other, and so on in turn."""

Tree = int | list["Tree"]
"""The same tree with the panels' numbers; -1 if there is no panel."""


def empty(width: float = 1.0, height: float = 1.0, alone: Panel | None = None) -> Panel:
    """Return room beside or above other panels, with nothing in it; another arrangement for the phone may leave it out."""
    return Panel((), None, None, width=width, height=height, alone=alone)


NOWHERE: tuple[Span, Span] = (0.0, 0.0), (1.0, 1.0)
"""The place of an empty panel that an arrangement leaves out."""


def flattened(parts: Sequence[Parts]) -> list[Panel]:
    """Return all panels, in the order in which they are named."""
    found: list[Panel] = []
    for part in parts:
        found += [part] if isinstance(part, Panel) else flattened(part)
    return found


def numbered(parts: Sequence[Parts], panels: Sequence[Panel], columns: int = 0) -> list[Tree]:
    """Return an arrangement with each panel's number. columns: break the top level into rows of this many."""
    free = dict(enumerate(panels))

    def number(part: Parts) -> Tree:
        if not isinstance(part, Panel):
            return [number(one) for one in part]
        place = next(place for place, panel in free.items() if panel is part)  # by identity: two panels may be equal
        del free[place]
        return place

    tree = [number(part) for part in parts]
    if not columns or columns >= len(tree):
        return tree
    tree += [-1] * (-len(tree) % columns)  # -len % columns: how many the last row lacks
    return [[tree[at : at + columns] for at in range(0, len(tree), columns)]]


def spread(panels: Sequence[Panel], tree: list[Tree], gap: float, top: float, height: int) -> Outputs:
    """Return where each panel stands. gap: between columns. top: how far up they reach. height: of the figure in pixels."""
    found: dict[int, tuple[Span, Span]] = {}

    def ends(part: Tree) -> tuple[Panel, Panel]:
        """Return the first and the last panel of a part."""
        if isinstance(part, int):
            return (panels[part], panels[part]) if part >= 0 else (Panel(()), Panel(()))
        return ends(part[0])[0], ends(part[-1])[1]

    def place(part: Tree, across: Span, up: Span, beside: bool) -> None:
        if isinstance(part, int):
            found[part] = across, up
            return
        firsts = [ends(one)[0] for one in part]  # a column is as wide, and a row as high, as its first panel says
        if beside:
            spans = _split([panel.width for panel in firsts], [gap] * (len(part) - 1), across)
            for one, span in zip(part, spans, strict=True):
                place(one, span, up, False)
            return
        between = [_between(ends(one)[1], ends(other)[0]) / height for one, other in pairwise(part)]
        # Shares of the figure count upwards, and panels are named from the top.
        spans = _split([panel.height for panel in firsts][::-1], between[::-1], up)
        for one, span in zip(part, spans[::-1], strict=True):
            place(one, across, span, True)

    place(tree, (0.0, 1.0), (0.0, top), True)
    return [found.get(number, NOWHERE) for number in range(len(panels))]


def _between(upper: Panel, lower: Panel) -> int:
    """Return the pixels between two panels of which one stands below the other."""
    if lower.air is not None:
        return lower.air
    across = upper.x or {}
    titled = lower.x is not None and "title" in across and not across.get("outer")
    return TICKS + TITLE * titled + HEADING * bool(lower.title)


def _split(weights: Sequence[float], gaps: Sequence[float], span: Span) -> list[Span]:
    """Split a span into parts with gaps between them."""
    room, start, parts = span[1] - span[0] - sum(gaps), span[0], []
    for weight, gap in zip(weights, [*gaps, 0.0], strict=True):
        stop = start + room * weight / sum(weights)
        parts.append((round(start, 6), round(stop, 6)))
        start = stop + gap
    return parts
