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
