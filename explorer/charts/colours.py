"""Colours by role, scales and typefaces.

A colour may be a role (`@mask`), which the page replaces by the light or the dark palette's value and replaces again
when the visitor switches; that way no figure has to be computed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
"""The Okabe-Ito colours by role; lighter members of the set if the page is dark."""

SERIES = ("@first", "@second", "@third", "@fourth", "@fifth", "@sixth", "@seventh", "@eighth", "@ninth")
"""Colours for lines that stand for different things, in the order in which they are used."""

DIVERGING = [[0.0, "#B34700"], [0.25, "#E9A06B"], [0.5, "#FFFFFF"], [0.75, "#6BAED6"], [1.0, "#00598C"]]
"""A scale for signed values, symmetric about zero: vermilion below, white at zero, blue above."""

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
"""A scale for magnitudes, from none to most, dark to light: it is read by those who see no red or no green as by all
others (Nuñez, Anderton and Renslow 2018).
"""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONOSPACED = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def series(place: int) -> str:
    """Return the colour of the line with this index; the colours begin again if there are more lines."""
    return SERIES[place % len(SERIES)]


def shade(share: float, scale: Sequence[Sequence[Any]]) -> str:
    """Return the colour at a share (0 to 1) of a scale."""
    return "#" + "".join(f"{round(255 * channel):02X}" for channel in _channels(share, scale))


def ink(share: float, scale: Sequence[Sequence[Any]]) -> str:
    """Return black or white, whichever contrasts more with the colour at a share (0 to 1) of a scale: contrast 4.58 or more."""
    channels = _channels(share, scale)
    # SRGB to linear light, which is what luminance adds up.
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.1, as the contrast
    return "#000000" if luminance > 0.179 else "#FFFFFF"  # the luminance at which black and white contrast alike


def _channels(share: float, scale: Sequence[Sequence[Any]]) -> list[float]:
    """Return red, green and blue at a share of a scale, each from 0 to 1."""
    share = min(1.0, max(0.0, share))
    place = next(place for place, (stop, _) in enumerate(scale[1:], start=1) if share <= stop)
    (before, low), (after, high) = scale[place - 1], scale[place]
    between = (share - before) / (after - before)
    return [
        (1 - between) * int(low[at : at + 2], 16) / 255 + between * int(high[at : at + 2], 16) / 255 for at in (1, 3, 5)
    ]
