"""One layer of the comparison: the word's vectors in a plane, and how alike each two of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import CIVIDIS, DIVERGING, SERIES, cell_texts, label, percent, picture, prose, strong
from explorer.labs.context.figures import LEGEND, layer_name, two
from explorer.labs.context.schema import ContextResult, Occurrence

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
"""A symbol for each sense, so that colour is not all that tells them apart."""

SIDES = {"top center": (0, 18), "middle right": (15, 0), "bottom center": (0, -18), "middle left": (-15, 0)}
"""Where a point's number can stand, and how far from the point, in pixels."""

PLANE_PIXELS = 140
"""From the middle of the plane to its edge."""

NEAR = 15
"""Pixels within which a number and a point, or two numbers, cover each other."""


def layer_sentence(result: ContextResult, layer: int) -> Markup:
    """Which sentences are most and least alike in one layer, and whether the nearest one shares the sense."""
    view, pairs = result.at(layer), list(result.kinds())
    start = layer_name(layer)
    if view.projection.explained[0] == 0:
        return prose(
            "In ", strong(start), f" all {len(result.occurrences)} vectors are the same: there is nothing to see."
        )
    most = max(pairs, key=lambda pair: view.cosines[pair[0]][pair[1]])
    least = min(pairs, key=lambda pair: view.cosines[pair[0]][pair[1]])
    parts: list[str] = ["In ", strong(start)]
    if most == least:
        parts.append(f" the two vectors are {two(view.cosines[most[0]][most[1]])} alike")
    else:
        parts.append(
            f" sentences {most[0] + 1} and {most[1] + 1} are most alike ({two(view.cosines[most[0]][most[1]])}), "
            f"{least[0] + 1} and {least[1] + 1} least ({two(view.cosines[least[0]][least[1]])})"
        )
    parts.append(f"; two random tokens are {two(view.baseline)}. ")
    parts += _neighbours(result, layer)
    shown = sum(view.projection.explained)
    parts.append(f"The plane holds {percent(shown)} of the variance.")
    return prose(*parts)


def _neighbours(result: ContextResult, layer: int) -> list[str]:
    """Of the sentences whose sense another one shares, how many have such a one as their nearest."""
    senses = [entry.sense for entry in result.occurrences]
    rows = result.at(layer).cosines
    able = [i for i, sense in enumerate(senses) if sense is not None and senses.count(sense) > 1]
    if not able or len(set(senses)) < 2:
        return []
    others = {i: [j for j in range(len(senses)) if j != i] for i in able}
    right = sum(senses[max(others[i], key=lambda j: rows[i][j])] == senses[i] for i in able)
    return ["The nearest sentence has the same sense for ", strong(f"{right} of {len(able)}"), ". "]


def plane_figure(result: ContextResult, layer: int) -> dict[str, Any]:
    """The word's vectors on the two principal components of one layer; the text of a point is its sentence's number."""
    view = result.at(layer)
    senses = list(dict.fromkeys(entry.sense for entry in result.occurrences))
    groups: list[tuple[str, list[Occurrence], str, str]] = [
        (
            sense if sense is not None else "no sense given",
            [entry for entry in result.occurrences if entry.sense == sense],
            SERIES[place] if sense is not None else "@muted",
            SYMBOLS[place],
        )
        for place, sense in enumerate(senses)
    ]
    if senses == [None]:
        groups = [("", [entry], SERIES[place], "circle") for place, entry in enumerate(result.occurrences)]
    coincide = view.projection.explained[0] == 0
    reach = 1.25 * max(abs(value) for point in view.projection.points for value in point) or 1.0
    sides = [] if coincide else free_sides(view.projection.points, reach)
    traces = [_points(result, layer, *group, sides) for group in groups]
    first, second = view.projection.explained
    note = {"text": f"all {len(result.occurrences)} at one point", "x": 0, "y": 0, "yshift": 24, "showarrow": False}
    return picture(
        traces,
        layer_sentence(result, layer).striptags(),
        height=360,
        showlegend=senses != [None],
        legend=LEGEND,
        annotations=[note] if coincide else [],
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={"title": {"text": _axis(1, first)}, "range": [-reach, reach], "showticklabels": False},
        yaxis={
            "title": {"text": _axis(2, second)},
            "range": [-reach, reach],
            "scaleanchor": "x",
            "constrain": "domain",
            "showticklabels": False,
        },
    )


def _axis(number: int, share: float) -> str:
    return f"component {number} ({percent(share)})" if share else f"component {number}"


def free_sides(points: Sequence[Sequence[float]], reach: float) -> list[str]:
    """A side for each point's number, on which it covers as few points and numbers as can be."""
    spots = [(PLANE_PIXELS * x / reach, PLANE_PIXELS * y / reach) for x, y in points]
    numbers: list[tuple[float, float]] = []
    chosen = []
    for x, y in spots:
        places = {side: (x + across, y + up) for side, (across, up) in SIDES.items()}
        side = min(places, key=lambda name: sum(math.dist(places[name], spot) < NEAR for spot in (*spots, *numbers)))
        chosen.append(side)
        numbers.append(places[side])
    return chosen


def _points(
    result: ContextResult,
    layer: int,
    sense: str,
    entries: list[Occurrence],
    colour: str,
    symbol: str,
    sides: Sequence[str],
) -> dict[str, Any]:
    points = [result.at(layer).projection.points[entry.number - 1] for entry in entries]
    return {
        "type": "scatter",
        "mode": "markers+text" if sides else "markers",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "name": label(sense, 24),
        "text": [str(entry.number) for entry in entries],
        "textposition": [sides[entry.number - 1] for entry in entries] if sides else None,
        "textfont": {"size": 15},
        "cliponaxis": False,
        "marker": {"size": 14, "color": colour, "symbol": symbol},
        "customdata": [label(f"{entry.number}. {entry.sentence}", 90) for entry in entries],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def pairs_figure(result: ContextResult, layer: int, adjusted: bool) -> dict[str, Any]:
    """Cosine of each two sentences in one layer, on a scale that all layers share."""
    view, count = result.at(layer), len(result.occurrences)
    lift = view.baseline if adjusted else 0.0
    values = [[None if i == j else view.cosines[i][j] - lift for j in range(count)] for i in range(count)]
    names = [label(f"{entry.number} {entry.sense or ''}".strip(), 14) for entry in result.occurrences]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": values,
        "x": [str(entry.number) for entry in result.occurrences],
        "y": names,
        "hoverongaps": False,
        "xgap": 2,
        "ygap": 2,
        "hovertemplate": "sentences %{x} and %{y}: %{z:.3f}<extra></extra>",
        "colorbar": {"thickness": 12, "len": 0.9, "tickformat": ".1f"},
        **_scale(result, adjusted),
    }
    texts = [["" if value is None else two(value) for value in row] for row in values]
    return picture(
        [trace, cell_texts(trace, texts, 15 if count <= 6 else 14)],
        layer_sentence(result, layer).striptags(),
        height=360,
        margin={"l": 8, "r": 8, "t": 52, "b": 8},
        xaxis={
            "title": {"text": "cosine minus baseline, by sentence" if adjusted else "cosine, by sentence"},
            "side": "top",
            "showgrid": False,
            "type": "category",
        },
        yaxis={"autorange": "reversed", "showgrid": False, "type": "category"},
    )


def _scale(result: ContextResult, adjusted: bool) -> dict[str, Any]:
    """From the lowest number of any layer to 1, so that moving through the layers changes no colour's meaning."""
    shown = [view.cosines[i][j] - adjusted * view.baseline for view in result.layers for i, j in result.kinds()]
    if adjusted:
        bound = max(map(abs, shown))
        return {"colorscale": DIVERGING, "zmin": -bound, "zmax": bound}
    return {"colorscale": CIVIDIS, "zmin": min([*shown, 0.9]), "zmax": 1}
