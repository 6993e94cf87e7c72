"""Composes a picture from panels: Plotly's data and layout, with legend, titles, and the layout for a phone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts.colours import FONT
from explorer.charts.panels import Axis, Outputs, Panel, Parts, flattened, numbered, spread
from explorer.charts.traces import Mark, Trace

Picture = dict[str, Any]

KEPT: Picture = {"before": "of the run before"}
"""Stands in place of a figure while there is nothing to draw yet: the figure before stays, dimmed and labelled as such."""

LEGEND = 26
"""Pixels that a panel's title needs below a legend."""


def chart(
    said: str,
    traces: Sequence[Trace],
    x: Axis | None = None,
    y: Axis | None = None,
    marks: Sequence[Mark] = (),
    **look: Any,
) -> Picture:
    """Return a picture of one panel; `look` as in `picture`."""
    return picture(said, [Panel(traces, x or {}, y or {}, marks=marks)], **look)


def picture(
    said: str,
    panels: Sequence[Parts],
    *,
    height: int = 400,
    columns: int = 0,
    gap: float = 0.08,
    phone: int = 0,
    stacked: Sequence[Parts] = (),
    low: int = 0,
    **look: Any,
) -> Picture:
    """Return a figure for the page: Plotly's data and layout, and the text for screen readers.

    said: the sentence under it. panels: beside each other, or `columns` in a row; those of a list in it below each
    other, those of a list in that beside each other again. gap: between columns, as a share of the width. height: in
    pixels; low: on a projector with 768 lines; phone: on a phone, where all panels stand below each other, or as in
    `stacked`, which has the same panels. look: legend (whether there is one), legend_size, above and right (pixels of
    the margins), and Plotly's own names.
    """
    flat = flattened(panels) or [Panel(())]
    names = _axis_names(flat)
    places = spread(flat, numbered(panels or flat, flat, columns), gap, _top(flat, height, look), height)
    drawn = {"data": _placed(flat, names), "layout": _layout(flat, names, places, height, look)}
    if phone:
        alone = [panel.alone or panel for panel in flat]
        tree = numbered(stacked or [flat], flat)
        places = spread(alone, tree, gap, _top(alone, phone, look), phone)
        drawn["narrow"] = _layout(alone, names, places, phone, _without_scale(look))
    described = said.striptags() if isinstance(said, Markup) else said
    return {**drawn, "described": described, **({"low": low} if low else {})}


def _top(panels: Sequence[Panel], height: int, look: dict[str, Any]) -> float:
    """Return how far up panels reach: titles of panels need room below a legend."""
    return 1 - LEGEND / height if look.get("legend") and any(panel.title for panel in panels) else 1.0


def _without_scale(look: dict[str, Any]) -> dict[str, Any]:
    """Return the look without a colour bar, for which a phone has no room."""
    return {
        name: {**value, "showscale": False} if name.startswith("coloraxis") else value for name, value in look.items()
    }


def _axis_names(panels: Sequence[Panel]) -> list[tuple[str, str]]:
    """Return Plotly's names of each panel's axes: x and y, x2 and y2; a shared one is named again."""
    count, names = {"x": 0, "y": 0}, []
    for panel in panels:
        # A panel without an axis of its own has the number of the one before it.
        count = {letter: count[letter] + (getattr(panel, letter) is not None) for letter in "xy"}
        x, y = (f"{letter}{number if number > 1 else ''}" for letter, number in count.items())
        names.append((x, y))
    return names


def _placed(panels: Sequence[Panel], names: Sequence[tuple[str, str]]) -> list[Trace]:
    """Return the traces with their axes. A name that several panels have is in the legend once, and switches all of them."""
    placed: list[Trace] = []
    first: dict[Any, int] = {}
    for panel, (x, y) in zip(panels, names, strict=True):
        before = {trace.get("name") for trace in placed} - {None}
        for trace in panel.traces:
            axes = {"xaxis": x, "yaxis": y} if len(panels) > 1 else {}
            again = {"showlegend": False} if trace.get("name") in before else {}
            placed.append({**trace, **axes, **again})
            first.setdefault(trace.get("legendgroup", len(placed)), len(placed))
    # Traces of one legendgroup follow the first of it, and texts on cells come last: a press tells which cells it
    # meets.
    order = [(trace.get("meta") == "cells", first[trace.get("legendgroup", n)]) for n, trace in enumerate(placed, 1)]
    shared = {trace["name"] for trace in placed if trace.get("showlegend") is False and "name" in trace}
    grouped = [{"legendgroup": trace["name"], **trace} if trace.get("name") in shared else trace for trace in placed]
    return [trace for _, trace in sorted(zip(order, grouped, strict=True), key=lambda pair: pair[0])]


def _layout(
    panels: Sequence[Panel], names: Sequence[tuple[str, str]], places: Outputs, height: int, look: dict[str, Any]
) -> dict[str, Any]:
    """Return everything that is not data: the margins, the legend, and every panel's axes, title and marks at its place."""
    changes = dict(look)
    legend, legend_size = changes.pop("legend", False), changes.pop("legend_size", 0)
    above, right = changes.pop("above", 30), changes.pop("right", 16)
    drawn: dict[str, Any] = {"height": height, "margin": {"l": 8, "r": right, "t": above, "b": 8}, **changes}
    if legend:
        font = {"font": {"size": legend_size}} if legend_size else {}
        drawn |= {"showlegend": True, "legend": {**_LEGEND, **font}}
    # Plotly has titles of figures and of axes, but none of panels: an annotation stands for it.
    titles = [_title(panel.title, x[0], y[1]) for panel, (x, y) in zip(panels, places, strict=True) if panel.title]
    marks = [mark for panel, pair in zip(panels, names, strict=True) for mark in _marks(panel, pair, len(panels) > 1)]
    drawn["annotations"] = titles + [mark for mark in marks if "text" in mark]
    drawn["shapes"] = [mark for mark in marks if "text" not in mark]
    return _with_shared({**drawn, **_axes(panels, names, places)})


_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
"""The legend in one row, in the order of the traces: Plotly breaks it at groups, and reverses it below stacked bars and
areas.
"""


def _axes(panels: Sequence[Panel], names: Sequence[tuple[str, str]], places: Outputs) -> dict[str, Axis]:
    """Return every panel's axes. One that several share crosses the lowest, or the leftmost, of them."""
    drawn: dict[str, Axis] = {}
    several = len(panels) > 1
    for panel, (x, y), (across, up) in zip(panels, names, places, strict=True):
        low, crossed = min((other[1][0], name[1]) for name, other in zip(names, places, strict=True) if name[0] == x)
        if panel.x is not None:
            place = {"domain": list(across), "anchor": crossed} if several else {}
            drawn[f"xaxis{x[1:]}"] = {**_outer(panel.x, low == 0, names=True), **place}
        if panel.y is not None:
            place = {"domain": list(up), "anchor": x} if several or up != (0, 1) else {}
            drawn[f"yaxis{y[1:]}"] = {**_outer(panel.y, across[0] == 0, names=False), **place}
    return drawn


def _outer(axis: Axis, at_edge: bool, names: bool) -> Axis:
    """Return an axis that is marked as outer for the edge or for inside. names: whether its names stay if it is inside."""
    shown = {key: value for key, value in axis.items() if key != "outer"}
    if at_edge or not axis.get("outer"):
        return shown
    shown.pop("title", None)
    return shown if names or not {"ticktext", "type"} & shown.keys() else {**shown, "showticklabels": False}


def _marks(panel: Panel, names: tuple[str, str], several: bool) -> list[Mark]:
    """Return the panel's marks on its own axes; a mark that refers to the paper, which is the whole figure, gets this
    panel's part of it.
    """
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


def _with_shared(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the layout that every figure starts from, with the changes on top."""
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
