"""Where things stand: axes, panels beside and below each other, titles, legend, and the layout for a phone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from explorer.charts.colours import FONT
from explorer.charts.traces import Mark, Trace

Axis = dict[str, Any]
Picture = dict[str, Any]
Span = tuple[float, float]

TICKS, TITLE, HEADING = 48, 28, 24
"""Pixels between two panels one below the other for numbers and air, for the title of an axis, for the next one's title."""

LEGEND = 26
"""Pixels that a panel's title needs below a legend."""


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
    outer: bool = False,
    **more: Any,
) -> Axis:
    """An axis; what is not said is Plotly's choice, and further keywords are its own.

    names: its values are names and not numbers, without lines. top: it stands above the panel. down: it runs from the top, or
    from the right. zero: it begins at 0. span: its ends, as powers of ten where it is logarithmic. size: of the numbers or names
    on it. outer: of panels beside each other only the leftmost, and of panels below each other only the lowest shows the
    axis's title (and its names, beside each other).
    """
    chosen: Axis = {"title": {"text": title}} if title else {}
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
    """The vertical axis of bars that stand at 0, 1, 2 and so on from the top: two of the same name stay two."""
    places = list(range(len(labels)))
    return axis(down=True, grid=False, tickmode="array", tickvals=places, ticktext=list(labels), **more)


@dataclass(frozen=True)
class Panel:
    """One pair of axes with what is drawn on them.

    x, y: its axes; None for that of the panel before it, which is then drawn once for both.
    title: at its upper left corner. marks: made by `level`, `frame` and `note`.
    width, height: beside those of the others in its row or column. alone: its axes, title and marks on a phone, where they are
    other ones.
    """

    traces: Sequence[Trace]
    x: Axis | None = field(default_factory=dict)
    y: Axis | None = field(default_factory=dict)
    title: str = ""
    marks: Sequence[Mark] = ()
    width: float = 1.0
    height: float = 1.0
    alone: Panel | None = None


def chart(
    said: str,
    traces: Sequence[Trace],
    x: Axis | None = None,
    y: Axis | None = None,
    marks: Sequence[Mark] = (),
    **look: Any,
) -> Picture:
    """A picture of one panel; `look` as in `picture`."""
    return picture(said, [Panel(traces, x or {}, y or {}, marks=marks)], **look)


def picture(
    said: str,
    panels: Sequence[Panel | Sequence[Panel]],
    *,
    height: int = 400,
    columns: int = 0,
    gap: float = 0.08,
    phone: int = 0,
    low: int = 0,
    **look: Any,
) -> Picture:
    """A figure for the page: Plotly's data and layout, and the text for screen readers.

    said: the sentence under it. panels: beside each other, so many columns in a row, and those of a list below each other.
    height: in pixels; low: where a projector has 768 lines; phone: on a phone, where all panels stand below each other.
    gap: between columns, as a share of the width. look: legend (whether there is one), legend_size, above and right (pixels
    of the margins), and Plotly's own names.
    """
    cells = [[cell] if isinstance(cell, Panel) else list(cell) for cell in panels or [Panel(())]]
    flat = [panel for cell in cells for panel in cell]
    names = _axis_names(flat)
    described = said.striptags() if isinstance(said, Markup) else said
    drawn = {"data": _placed(flat, names), "layout": _layout(cells, names, columns, gap, height, look)}
    if phone:
        column = [[panel.alone or panel] for panel in flat]
        drawn["narrow"] = _layout(column, names, 1, gap, phone, _without_scale(look))
    return {**drawn, "described": described, **({"low": low} if low else {})}


def _without_scale(look: dict[str, Any]) -> dict[str, Any]:
    """A phone has no room for the key to a scale of colours."""
    return {
        name: {**value, "showscale": False} if name.startswith("coloraxis") else value for name, value in look.items()
    }


def _axis_names(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Plotly's names of each panel's axes: x and y, x2 and y2; a shared one is named again."""
    count, names = {"x": 0, "y": 0}, []
    for panel in panels:
        count = {letter: count[letter] + (getattr(panel, letter) is not None) for letter in "xy"}
        x, y = (f"{letter}{number if number > 1 else ''}" for letter, number in count.items())
        names.append((x, y))
    return names


def _placed(panels: Sequence[Panel], names: Sequence[tuple[str, str]]) -> list[Trace]:
    """The traces with their axes. What several panels name is in the legend once, and is switched there in all of them.

    Traces that say their legendgroup follow the first of it, and texts on cells come last: a press tells which cells it meets.
    """
    placed: list[Trace] = []
    first: dict[Any, int] = {}
    for panel, (x, y) in zip(panels, names, strict=True):
        before = {trace.get("name") for trace in placed} - {None}
        for trace in panel.traces:
            axes = {**({"xaxis": x} if x != "x" else {}), **({"yaxis": y} if y != "y" else {})}
            again = {"showlegend": False} if trace.get("name") in before else {}
            placed.append({**trace, **axes, **again})
            first.setdefault(trace.get("legendgroup", len(placed)), len(placed))
    order = [(trace.get("meta") == "cells", first[trace.get("legendgroup", n)]) for n, trace in enumerate(placed, 1)]
    shared = {trace["name"] for trace in placed if trace.get("showlegend") is False and "name" in trace}
    grouped = [{"legendgroup": trace["name"], **trace} if trace.get("name") in shared else trace for trace in placed]
    return [trace for _, trace in sorted(zip(order, grouped, strict=True), key=lambda pair: pair[0])]


def _layout(
    cells: Sequence[Sequence[Panel]],
    names: Sequence[tuple[str, str]],
    columns: int,
    gap: float,
    height: int,
    look: dict[str, Any],
) -> dict[str, Any]:
    """All that is not data: the margins, the legend, and every panel's axes, title and marks at its place."""
    changes = dict(look)
    legend, legend_size = changes.pop("legend", False), changes.pop("legend_size", 0)
    above, right = changes.pop("above", 30), changes.pop("right", 16)
    flat = [panel for cell in cells for panel in cell]
    headed = legend and any(panel.title for panel in flat)
    places = _places(cells, columns, gap, 1 - LEGEND / height if headed else 1.0, height)
    drawn: dict[str, Any] = {"height": height, "margin": {"l": 8, "r": right, "t": above, "b": 8}, **changes}
    if legend:
        font = {"font": {"size": legend_size}} if legend_size else {}
        order = {"traceorder": "normal"} if changes.get("barmode") == "stack" else {}
        drawn |= {"showlegend": True, "legend": {**_LEGEND, **font, **order}}
    marks = [mark for panel, pair in zip(flat, names, strict=True) for mark in _marks(panel, pair, len(flat) > 1)]
    titles = [_title(panel.title, x[0], y[1]) for panel, (x, y) in zip(flat, places, strict=True) if panel.title]
    drawn["annotations"] = titles + [mark for mark in marks if "text" in mark]
    drawn["shapes"] = [mark for mark in marks if "text" not in mark]
    return _with_shared({**drawn, **_axes(flat, names, places)})


_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def _axes(panels: Sequence[Panel], names: Sequence[tuple[str, str]], places: Sequence[tuple[Span, Span]]) -> Axis:
    """Every panel's axes. One that several share crosses the lowest, or the leftmost, of them."""
    drawn: Axis = {}
    lowest = {x: (y, down[0]) for (x, y), (_, down) in zip(names, places, strict=True)}
    for panel, (x, y), (across, down) in zip(panels, names, places, strict=True):
        if panel.x is not None:
            place = {"domain": list(across), "anchor": lowest[x][0]} if len(panels) > 1 else {}
            drawn[f"xaxis{x[1:]}"] = {**_outer(panel.x, lowest[x][1] == 0, names=True), **place}
        if panel.y is not None:
            place = {"domain": list(down), "anchor": x} if len(panels) > 1 or down != (0, 1) else {}
            drawn[f"yaxis{y[1:]}"] = {**_outer(panel.y, across[0] == 0, names=False), **place}
    return drawn


def _outer(axis: Axis, at_edge: bool, names: bool) -> Axis:
    """An axis that is marked as outer, as it is at the edge or inside; names: whether its names stay where it is inside."""
    shown = {key: value for key, value in axis.items() if key != "outer"}
    if at_edge or not axis.get("outer"):
        return shown
    shown.pop("title", None)
    return shown if names or not {"ticktext", "type"} & shown.keys() else {**shown, "showticklabels": False}


def _marks(panel: Panel, names: tuple[str, str], several: bool) -> list[Mark]:
    """The panel's marks on its own axes; what refers to the paper, which is all of the figure, to this panel's part of it."""
    if not several:
        return list(panel.marks)
    found = []
    for mark in panel.marks:
        refs = {f"{name[0]}ref": name if mark.get(f"{name[0]}ref") != "paper" else f"{name} domain" for name in names}
        found.append({**mark, **refs})
    return found


def _title(text: str, x: float, y: float) -> Mark:
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, **place, "showarrow": False, "font": {"size": 15}}


def _places(
    cells: Sequence[Sequence[Panel]], columns: int, gap: float, top: float, height: int
) -> list[tuple[Span, Span]]:
    """Where each panel stands, across and up, in shares of the figure; rows of cells are filled from left to right."""
    columns = columns or len(cells)
    lines = [cells[at : at + columns] for at in range(0, len(cells), columns)]
    across = _split([cell[0].width for cell in lines[0]], [gap] * (len(lines[0]) - 1))
    between = [_between(line[0][-1], below[0][0]) / height for line, below in pairwise(lines)]
    places = []
    for line, (start, stop) in zip(lines, _split([line[0][0].height for line in lines], between, top), strict=True):
        for cell, span in zip(line, across, strict=False):
            inside = [_between(one, other) / height for one, other in pairwise(cell)]
            for one, other in _split([panel.height for panel in cell], inside, stop - start):
                places.append((span, (round(top - start - other, 6), round(top - start - one, 6))))
    return places


def _between(upper: Panel, lower: Panel) -> int:
    """Pixels between two panels, of which one stands below the other."""
    across = upper.x or {}
    titled = lower.x is not None and "title" in across and not across.get("outer")
    return TICKS + TITLE * titled + HEADING * bool(lower.title)


def _split(weights: Sequence[float], gaps: Sequence[float], whole: float = 1.0) -> list[Span]:
    """Parts of a length, beginning at 0."""
    room, start, parts = whole - sum(gaps), 0.0, []
    for weight, gap in zip(weights, [*gaps, 0.0], strict=True):
        stop = start + room * weight / sum(weights)
        parts.append((start, stop))
        start = stop + gap
    return parts


def _with_shared(changes: dict[str, Any]) -> dict[str, Any]:
    """The layout that every figure starts from, with the changes on top."""
    axis = {"gridcolor": "@grid", "zerolinecolor": "@grid", "linecolor": "@grid", "automargin": True}
    base: dict[str, Any] = {
        "font": {"family": FONT, "size": 16, "color": "@text"},
        "paper_bgcolor": "@background",
        "plot_bgcolor": "@background",
        "xaxis": dict(axis),
        "yaxis": dict(axis),
        "showlegend": False,
        "hoverlabel": {"font": {"family": FONT, "size": 15}},
        "dragmode": False,
    }
    for name, value in changes.items():
        if name.startswith(("xaxis", "yaxis")):
            base[name] = {**axis, **value}
            if "title" in value:
                base[name]["title"] = {"font": {"size": 16}, **value["title"]}
        elif value or name not in ("annotations", "shapes"):
            base[name] = value
    return base
