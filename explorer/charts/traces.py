"""Makes what is drawn: lines, points, bars, cells, and the marks across them, as Plotly's dictionaries.

Of every trace: colours are roles (`@first`); `hover` is what the pointer shows (Plotly's template), None for nothing;
`aside` stands beside that in the trace's colour; further keywords are Plotly's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from explorer.charts.colours import ink

Trace = dict[str, Any]
Mark = dict[str, Any]
Look = dict[str, Any]
"""Keywords that several traces share."""


def line(
    x: Iterable[Any],
    y: Iterable[Any],
    colour: str,
    name: str = "",
    *,
    width: float = 3,
    dash: str = "",
    size: float = 0,
    marker: dict[str, Any] | None = None,
    hover: str | None = None,
    aside: str = "",
    **more: Any,
) -> Trace:
    """Return a line. size: of marks on it, in pixels; 0 for none."""
    stroke = {"color": colour, "width": width, **({"dash": dash} if dash else {})}
    marks = {"marker": {"size": size, **(marker or {})}} if size else {}
    mode = "lines+markers" if size else "lines"
    drawn = {"mode": mode, "x": list(x), "y": list(y), "line": stroke, **marks}
    return _trace("scatter", name, hover, aside, drawn | more)


def points(
    x: Iterable[Any],
    y: Iterable[Any],
    colour: Any = None,
    name: str = "",
    *,
    size: float = 9,
    symbol: Any = None,
    marker: dict[str, Any] | None = None,
    texts: Iterable[str] | None = None,
    hover: str | None = None,
    aside: str = "",
    **more: Any,
) -> Trace:
    """Return marks alone, with texts if given. colour, symbol: of all, or one of each."""
    look = {"size": size, "color": colour, "symbol": symbol}
    marks = {key: value for key, value in look.items() if value is not None} | (marker or {})
    # A text at the edge may reach beyond the axes.
    written = {} if texts is None else {"text": list(texts), "cliponaxis": False}
    mode = "markers" if texts is None else "markers+text"
    drawn = {"mode": mode, "x": list(x), "y": list(y), "marker": marks, **written}
    return _trace("scatter", name, hover, aside, drawn | more)


def strokes(x: Iterable[Any], y: Iterable[Any], colour: str, name: str = "", *, size: float = 26, **more: Any) -> Trace:
    """Return short upright strokes, such as mark a mean."""
    marker = {"line": {"width": 4, "color": colour}}
    return points(x, y, name=name, size=size, symbol="line-ns", marker=marker, **more)


def band(x: Sequence[Any], low: Sequence[float], high: Sequence[float], fill: str) -> Trace:
    """Return the area between two lines, behind what is drawn after it."""
    across, around = [*x, *x[::-1]], [*high, *low[::-1]]  # there along the upper edge, and back along the lower
    edge = {"fill": "toself", "line": {"width": 0}, "fillcolor": fill, "showlegend": False}
    return _trace("scatter", "", None, "", {"mode": "lines", "x": across, "y": around, **edge})


def texts(x: Iterable[Any], y: Iterable[Any], written: Iterable[str], **more: Any) -> Trace:
    """Return texts alone, at their places."""
    drawn = {"mode": "text", "x": list(x), "y": list(y), "text": list(written), "showlegend": False}
    return _trace("scatter", "", None, "", drawn | more)


def bars(
    names: Iterable[Any],
    values: Iterable[Any],
    colour: Any,
    name: str = "",
    *,
    upright: bool = False,
    texts: Iterable[str] | None = None,
    at: str | Sequence[str] = "outside",
    size: int = 0,
    hover: str | None = None,
    aside: str = "",
    **more: Any,
) -> Trace:
    """Return bars from left to right, or from the ground up. texts: beside the bars or, by `at`, inside. size: of the texts."""
    across = (
        {"x": list(names), "y": list(values)} if upright else {"orientation": "h", "y": list(names), "x": list(values)}
    )
    written: Trace = {}
    if texts is not None:
        font = {"size": size} if size else {}
        written = {"text": list(texts), "textposition": at, **({"textfont": font} if size else {})}
        written |= {"insidetextfont": {**font, "color": "@inside"}} if at != "outside" else {}
        written |= {"cliponaxis": False} if at != "inside" else {}
    return _trace("bar", name, hover, aside, {**across, "marker": {"color": colour}, **written, **more})


def heat(
    x: Iterable[Any],
    y: Iterable[Any],
    z: Iterable[Iterable[Any]],
    scale: Any = None,
    ends: tuple[float | None, float | None] = (0, 1),
    *,
    texts: Sequence[Sequence[str]] | Callable[[Any], str] | None = None,
    size: int = 15,
    gap: float = 2,
    bar: dict[str, Any] | None = None,
    hover: str | None = None,
    **more: Any,
) -> list[Trace]:
    """Return coloured cells, a row of z for each y, and the texts on them. ends: the values at the ends of the scale,
    None for the least or the largest there is.

    texts: of each cell, or a function that writes a value; a cell without a value has none. bar: the colour bar, made
    by `colorbar`. size: of the texts. shared=True in place of a bar: the picture has one `coloraxis` for several
    panels, with this scale and these ends.
    """
    shared = more.pop("shared", False)
    colours: Trace = {"colorscale": scale, "zmin": ends[0], "zmax": ends[1]}
    key = {"coloraxis": "coloraxis"} if shared else {**colours, **({"colorbar": bar} if bar else {"showscale": False})}
    gaps = {"xgap": gap, "ygap": gap} if gap else {}
    rows = [list(row) for row in z]
    drawn = _trace("heatmap", "", hover, "", {"x": list(x), "y": list(y), "z": rows, **key, **gaps, **more})
    if callable(texts):
        texts = [["" if value is None else texts(value) for value in row] for row in rows]
    return [drawn] if texts is None else [drawn, cell_texts({**drawn, **colours}, texts, size)]


def error_bars(above: Iterable[Any], below: Iterable[Any] | None = None, colour: str = "@text", **more: Any) -> Trace:
    """Return a trace's `error_x` or `error_y`: how far each value may be off, above and below it."""
    sides = {} if below is None else {"symmetric": False, "arrayminus": list(below)}
    return {"type": "data", "array": list(above), **sides, "color": colour, **more}


def colorbar(title: str = "", form: str = "", *, side: str = "", thickness: int = 14, **more: Any) -> dict[str, Any]:
    """Return a colour bar. form: of its numbers. side: of the title, if it isn't above."""
    titled = {"title": {"text": title, **({"side": side} if side else {})}} if title else {}
    return {**titled, **({"tickformat": form} if form else {}), "thickness": thickness, **more}


def cell_texts(cells: Trace, texts: Sequence[Sequence[str]], size: int = 15) -> Trace:
    """Return a trace that writes on a heatmap's cells, each in the ink that its colour asks for; the pointer reaches
    the cells.

    cells: the heatmap's trace, with x, y, z, zmin, zmax and a list of colours as its scale.
    """
    # Plotly's own texts on cells are dark grey or white, and hard to read on the colours between.
    low, high = cells["zmin"], cells["zmax"]
    found = [
        (x, y, text, "@text" if value is None else ink((value - low) / ((high - low) or 1), cells["colorscale"]))
        for y, row, written in zip(cells["y"], cells["z"], texts, strict=True)
        for x, value, text in zip(cells["x"], row, written, strict=True)
        if text
    ]
    return {
        "type": "scatter",
        "mode": "text",
        "meta": "cells",  # by which pictures.py draws it after all other traces
        "x": [x for x, _, _, _ in found],
        "y": [y for _, y, _, _ in found],
        "text": [text for _, _, text, _ in found],
        "textfont": {"size": size, "color": [color for _, _, _, color in found]},
        "hoverinfo": "skip",
        "showlegend": False,
        **{axis: cells[axis] for axis in ("xaxis", "yaxis") if axis in cells},
    }


def level(at: float, colour: str = "@text", *, width: float = 2, dash: str = "dash", upright: bool = False) -> Mark:
    """Return a line across the whole panel, at a value of the vertical axis (upright: of the horizontal one)."""
    along, value = ("y", "x") if upright else ("x", "y")
    # "paper" is the whole figure; pictures.py narrows it to the panel.
    ends = {f"{along}ref": "paper", f"{along}0": 0, f"{along}1": 1, f"{value}0": at, f"{value}1": at}
    return {"type": "line", **ends, "line": {"color": colour, "width": width, "dash": dash}}


def frame(x: tuple[float, float], y: tuple[float, float], *, width: float = 3, dash: str = "solid") -> Mark:
    """Return an outline around the area between values of both axes."""
    stroke = {"color": "@highlight", "width": width, "dash": dash}
    return {"type": "rect", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": stroke}


def note(text: str, x: float | str, y: float | str, **place: Any) -> Mark:
    """Return a text inside a panel, at values of its axes; xref or yref "paper": at a share of its width or height."""
    return {"text": text, "x": x, "y": y, "showarrow": False, **place}


def _trace(kind: str, name: str, hover: str | None, aside: str, drawn: Trace) -> Trace:
    # <extra></extra>: Plotly would show the trace's name beside it.
    read = {"hoverinfo": "skip"} if hover is None else {"hovertemplate": f"{hover}<extra>{aside}</extra>"}
    said = {key: value for key, value in drawn.items() if value is not None}
    return {"type": kind, **({"name": name} if name else {}), **said, **read}
