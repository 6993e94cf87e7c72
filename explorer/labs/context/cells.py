"""Text on the cells of a heatmap, in an ink that stands out from each cell's colour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DARK_INK, LIGHT_INK = "#10151C", "#FFFFFF"


def ink(share: float, diverging: bool = False) -> str:
    """The ink for a colour at this share (0 to 1) of cividis, or of the diverging map, which is dark at both ends."""
    dark_cell = abs(share - 0.5) > 0.42 if diverging else share < 0.45
    return LIGHT_INK if dark_cell else DARK_INK


def cell_texts(
    x: Sequence[Any], y: Sequence[Any], texts: Sequence[str], inks: Sequence[str], size: int
) -> dict[str, Any]:
    """A trace of texts over a heatmap; they let the pointer through to the cells."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": list(x),
        "y": list(y),
        "text": list(texts),
        "textfont": {"size": size, "color": list(inks)},
        "hoverinfo": "skip",
        "showlegend": False,
    }
