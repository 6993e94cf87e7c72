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
        "paper": "#FFFFFF",
        "full": "#0072B2",
        "above": "#00598C",
        "below": "#B34700",
        "ink": "#000000",
        "reversed": "#FFFFFF",
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
        "paper": "#0B0F19",
        "full": "#56B4E9",
        "above": "#56B4E9",
        "below": "#F0883C",
        "ink": "#FFFFFF",
        "reversed": "#000000",
        "grid": "#39424E",
        "background": "rgba(0,0,0,0)",
    },
}
"""The Okabe-Ito colours by role; lighter members of the set if the page is dark."""

SERIES = ("@first", "@second", "@third", "@fourth", "@fifth", "@sixth", "@seventh", "@eighth", "@ninth")
"""Colours for lines that stand for different things, in the order in which they are used."""

DIVERGING = [[0.0, "@below"], [0.5, "@paper"], [1.0, "@above"]]
"""A scale for signed values, symmetric about zero: vermilion below, the paper at zero, blue above."""

MAGNITUDE = [[0.0, "@paper"], [1.0, "@full"]]
"""A scale for magnitudes: nothing is the paper, and one hue goes up to full, by day and by night."""

FONT = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"
MONOSPACED = "'JetBrains Mono', ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def series(place: int) -> str:
    """Return the colour of the line with this index; the colours begin again if there are more lines."""
    return SERIES[place % len(SERIES)]


def ink(share: float, scale: Sequence[Sequence[Any]]) -> str:
    """Return black or white, whichever contrasts more with the colour at a share (0 to 1) of a scale: contrast 4.58 or more.

    Where that differs between day and night it is a role.
    """
    day, night = (_ink(_channels(share, scale, palette)) for palette in PALETTES.values())
    if day == night:
        return day
    return "@ink" if day == PALETTES["light"]["ink"] else "@reversed"


def _ink(channels: Sequence[float]) -> str:
    # SRGB to linear light, which is what luminance adds up.
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]  # WCAG 2.1, as the contrast
    return "#000000" if luminance > 0.179 else "#FFFFFF"  # the luminance at which black and white contrast alike


def _channels(share: float, scale: Sequence[Sequence[Any]], palette: dict[str, str]) -> list[float]:
    """Return red, green and blue at a share of a scale, each from 0 to 1."""
    share = min(1.0, max(0.0, share))
    place = next(place for place, (stop, _) in enumerate(scale[1:], start=1) if share <= stop)
    (before, low), (after, high) = scale[place - 1], scale[place]
    low, high = (palette[one[1:]] if one.startswith("@") else one for one in (low, high))
    between = (share - before) / (after - before)
    return [
        (1 - between) * int(low[at : at + 2], 16) / 255 + between * int(high[at : at + 2], 16) / 255 for at in (1, 3, 5)
    ]
