"""The vocabulary of pictures: a lab says what is drawn, and everything that is the same in every picture is done here.

Numbers, sentences and pieces of HTML are in `explorer.charts.words`.
"""

from explorer.charts.colours import DIVERGING, FONT, MAGNITUDE, MONOSPACED, PALETTES, SERIES, ink, series
from explorer.charts.panels import Axis, Panel, axis, empty, rows
from explorer.charts.pictures import KEPT, Picture, chart, picture
from explorer.charts.traces import (
    Look,
    Mark,
    Trace,
    band,
    bars,
    cell_texts,
    colorbar,
    error_bars,
    frame,
    heat,
    level,
    line,
    note,
    points,
    strokes,
    texts,
)

__all__ = [
    "DIVERGING",
    "FONT",
    "KEPT",
    "MAGNITUDE",
    "MONOSPACED",
    "PALETTES",
    "SERIES",
    "Axis",
    "Look",
    "Mark",
    "Panel",
    "Picture",
    "Trace",
    "axis",
    "band",
    "bars",
    "cell_texts",
    "chart",
    "colorbar",
    "empty",
    "error_bars",
    "frame",
    "heat",
    "ink",
    "level",
    "line",
    "note",
    "picture",
    "points",
    "rows",
    "series",
    "strokes",
    "texts",
]
