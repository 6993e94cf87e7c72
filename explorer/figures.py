"""What all figures share: colours, number formats, prose, and the shape in which a picture goes to the page.

A colour may be a role (`@mask`), which the page replaces by the light or the dark palette's value and replaces again when
the visitor switches; that way no figure has to be computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

PALETTES: dict[str, dict[str, str]] = {
    "light": {
        "accent": "#0072B2",
        "mask": "#0072B2",
        "random": "#D55E00",
        "kept": "#009E73",
        "untouched": "#E3E7ED",
        "muted": "#8A94A3",
        "highlight": "#E69F00",
        "first": "#0072B2",
        "second": "#D55E00",
        "third": "#009E73",
        "fourth": "#CC79A7",
        "fifth": "#E69F00",
        "sixth": "#56B4E9",
        "seventh": "#6B5B95",
        "eighth": "#1F2933",
        "ninth": "#B8A800",
        "text": "#1F2933",
        "inside": "#FFFFFF",
        "grid": "#DDE2E8",
        "background": "rgba(0,0,0,0)",
    },
    "dark": {
        "accent": "#56B4E9",
        "mask": "#56B4E9",
        "random": "#E69F00",
        "kept": "#2BC59B",
        "untouched": "#2C3440",
        "muted": "#8A94A3",
        "highlight": "#F0E442",
        "first": "#56B4E9",
        "second": "#E69F00",
        "third": "#2BC59B",
        "fourth": "#E39CC3",
        "fifth": "#F0E442",
        "sixth": "#9CD3F2",
        "seventh": "#B9A9E0",
        "eighth": "#E6EAF0",
        "ninth": "#D55E00",
        "text": "#E6EAF0",
        "inside": "#0D1720",
        "grid": "#39424E",
        "background": "rgba(0,0,0,0)",
    },
}
"""The Okabe-Ito colours by role; lighter members of the set where the page is dark."""

SERIES = ("@first", "@second", "@third", "@fourth", "@fifth", "@sixth", "@seventh", "@eighth", "@ninth")
"""Colours for lines that stand for different things, in the order in which they are used."""

DIVERGING = [[0.0, "#B34700"], [0.25, "#E9A06B"], [0.5, "#FFFFFF"], [0.75, "#6BAED6"], [1.0, "#00598C"]]
"""For signed values, on a scale that is symmetric about zero: vermilion below, white at zero, blue above."""

CIVIDIS = [
    [0.0, "#00204C"],
    [0.125, "#05366E"],
    [0.25, "#404D6B"],
    [0.375, "#60636E"],
    [0.5, "#7C7B77"],
    [0.625, "#9B9377"],
    [0.75, "#BCAE6E"],
    [0.875, "#DFCA5D"],
    [1.0, "#FFE945"],
]
"""For magnitudes, from none to most, dark to light: as read by those who see no red or no green as by all others
(Nuñez, Anderton and Renslow 2018)."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONOSPACED = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def percent(share: float) -> str:
    """A share as a percentage with three significant digits; what would round to nothing is said to be below."""
    value = 100.0 * share
    if 0 < value < 1e-4:
        return "<0.0001%"
    if value >= 99.95 and share < 1:
        return f"{min(value, 99.9999):.4f}".rstrip("0") + "%"
    return f"{value:#.3g}".rstrip(".") + "%"


def fixed(number: float, digits: int = 2) -> str:
    """So many decimals, with a minus sign, and no minus before a zero."""
    return f"{round(number, digits) + 0.0:.{digits}f}".replace("-", "−")


def compact(number: float) -> str:
    """A count in three significant digits with K, M or B."""
    for size, sign in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if abs(number) >= 0.9995 * size:
            return f"{number / size:.3g}{sign}"
    return f"{number:.3g}"


def megabytes(count: float) -> str:
    """Bytes as KB, MB or GB, three significant digits."""
    for size, sign in ((1e9, "GB"), (1e6, "MB")):
        if count >= 0.9995 * size:
            return f"{count / size:.3g} {sign}"
    return f"{count / 1e3:.3g} KB"


def duration(seconds: float) -> str:
    """Seconds as a visitor reads them."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.1f} min"


def label(text: str, longest: int = 40) -> str:
    """A name for a legend or an axis: never markup (Plotly reads <b> and the like in labels), never long."""
    short = text if len(text) <= longest else text[: longest - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def strong(text: str) -> Markup:
    """A token or a number that a sentence points at, escaped."""
    return Markup("<strong>{}</strong>").format(text)


def prose(*parts: str) -> Markup:
    """Safe HTML: parts that are Markup already stay as they are, plain text is escaped."""
    return Markup("").join(parts)


def ink(share: float, scale: Sequence[Sequence[Any]]) -> str:
    """Black or white, whichever stands out more from the colour at a share (0 to 1) of a scale: contrast 4.58 or more."""
    share = min(1.0, max(0.0, share))
    place = next(place for place, (stop, _) in enumerate(scale[1:], start=1) if share <= stop)
    (before, low), (after, high) = scale[place - 1], scale[place]
    between = (share - before) / (after - before)
    channels = [
        (1 - between) * int(low[at : at + 2], 16) / 255 + between * int(high[at : at + 2], 16) / 255 for at in (1, 3, 5)
    ]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.1, as the contrast
    return "#000000" if luminance > 0.179 else "#FFFFFF"


def cell_texts(heat: dict[str, Any], texts: Sequence[Sequence[str]], size: int = 15) -> dict[str, Any]:
    """A trace that writes on a heatmap's cells, each in the ink that its colour asks for; the pointer reaches the cells.

    heat: the heatmap's trace, with x, y, z, zmin, zmax and a list of colours as its scale. Plotly's own texts on cells are
    dark grey or white, and hard to read on the colours between.
    """
    low, high = heat["zmin"], heat["zmax"]
    cells = [
        (x, y, text, "@text" if value is None else ink((value - low) / ((high - low) or 1), heat["colorscale"]))
        for y, row, written in zip(heat["y"], heat["z"], texts, strict=True)
        for x, value, text in zip(heat["x"], row, written, strict=True)
        if text
    ]
    return {
        "type": "scatter",
        "mode": "text",
        "meta": "cells",
        "x": [x for x, _, _, _ in cells],
        "y": [y for _, y, _, _ in cells],
        "text": [text for _, _, text, _ in cells],
        "textfont": {"size": size, "color": [color for _, _, _, color in cells]},
        "hoverinfo": "skip",
        "showlegend": False,
        **{axis: heat[axis] for axis in ("xaxis", "yaxis") if axis in heat},
    }


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
