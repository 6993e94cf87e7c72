"""The figures of labs that are not drawn with explorer.charts yet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.charts import CIVIDIS, DIVERGING, FONT, MONOSPACED, PALETTES, SERIES, cell_texts, ink
from explorer.charts.words import compact, duration, fixed, label, megabytes, percent, prose, strong

__all__ = [
    "CIVIDIS",
    "DIVERGING",
    "FONT",
    "MONOSPACED",
    "PALETTES",
    "SERIES",
    "cell_texts",
    "compact",
    "duration",
    "fixed",
    "ink",
    "label",
    "megabytes",
    "percent",
    "prose",
    "strong",
]


def layout(**changes: Any) -> dict[str, Any]:
    """The layout that every figure starts from; `changes` go on top (Plotly's names)."""
    axis = {"gridcolor": "@grid", "zerolinecolor": "@grid", "linecolor": "@grid", "automargin": True}
    base: dict[str, Any] = {
        "font": {"family": FONT, "size": 16, "color": "@text"},
        "paper_bgcolor": "@background",
        "plot_bgcolor": "@background",
        "margin": {"l": 8, "r": 16, "t": 30, "b": 8},
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
        else:
            base[name] = value
    return base


def picture(traces: Sequence[dict[str, Any]], described: str, **changes: Any) -> dict[str, Any]:
    """A figure for the page: Plotly's data and layout, and the text for screen readers."""
    return {"data": list(traces), "layout": layout(**changes), "described": described}
