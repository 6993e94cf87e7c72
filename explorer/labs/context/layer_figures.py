"""One layer of the comparison: the word's vectors in a plane, and how alike each two of them are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import DIVERGING, MAGNITUDE, SERIES, Look, Picture, axis, chart, colorbar, heat, note, points
from explorer.charts.words import caption, label, percent, prose, strong
from explorer.labs.context.word import ContextResult
from explorer.labs.context.word_figures import alike, layer_name, two

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
"""A symbol for each sense, so that colour is not all that tells them apart."""

SIDES = {"top center": (0, 18), "middle right": (15, 0), "bottom center": (0, -18), "middle left": (-15, 0)}
"""Where a point's number can stand, and how far from the point, in pixels."""

PLANE_PIXELS = 140
"""From the middle of the plane to its edge."""

NEAR = 15
"""Pixels within which a number and a point, or two numbers, cover each other."""


def layer_sentence(result: ContextResult, layer: int) -> Markup:
    """Say in how many sentences the nearest one shares the sense or, without senses, which two are most alike."""
    pairs, start = alike(result, layer), ["In ", strong(layer_name(layer))]
    if _is_one_point(result, layer):
        return prose(*start, f" all {len(result.occurrences)} vectors are the same: there is nothing to see.")
    if shared := _neighbours(result, layer):
        return prose(*start, " the nearest sentence has the same sense for ", strong(shared), ".")
    most = max(pairs, key=pairs.__getitem__)
    if len(pairs) == 1:
        return prose(*start, " the two vectors are ", strong(two(pairs[most])), " alike.")
    return prose(*start, " sentences ", strong(f"{most[0] + 1} and {most[1] + 1}"), " are most alike.")


def layer_notes(result: ContextResult, layer: int) -> Markup:
    """Say which sentences are most and least alike, what two random tokens have, and how much the plane shows."""
    if _is_one_point(result, layer):
        return Markup("")
    view, pairs = result.at(layer), alike(result, layer)
    most, least = max(pairs, key=pairs.__getitem__), min(pairs, key=pairs.__getitem__)
    said = f"Sentences {most[0] + 1} and {most[1] + 1} are most alike ({two(pairs[most])}), "
    said += f"{least[0] + 1} and {least[1] + 1} least ({two(pairs[least])})"
    if len(pairs) == 1:
        said = f"The two are {two(pairs[most])} alike"
    plane = f"The plane holds {percent(sum(view.projection.explained))} of the variance."
    return caption(f"{said}; two random tokens are {two(view.baseline)}. {plane}")


def _is_one_point(result: ContextResult, layer: int) -> bool:
    return result.at(layer).projection.explained[0] == 0  # no variance to explain


def _neighbours(result: ContextResult, layer: int) -> str:
    """Return a phrase such as "3 of 6": how many sentences have a nearest neighbour of their own sense.

    Only sentences whose sense another one shares are counted. The phrase is "" without senses.
    """
    senses = [entry.sense for entry in result.occurrences]
    rows = result.at(layer).cosines
    # The only one of its sense cannot be right.
    able = [i for i, sense in enumerate(senses) if sense is not None and senses.count(sense) > 1]
    if not able or len(set(senses)) < 2:
        return ""
    others = {i: [j for j in range(len(senses)) if j != i] for i in able}
    right = sum(senses[max(others[i], key=lambda j: rows[i][j])] == senses[i] for i in able)
    return f"{right} of {len(able)}"


def plane_figure(result: ContextResult, layer: int) -> Picture:
    """Draw the word's vectors on the two principal components of one layer; a point's text is its sentence's number."""
    projection, entries = result.at(layer).projection, result.occurrences
    senses = list(dict.fromkeys(entry.sense for entry in entries))
    named = senses != [None]
    groups = (
        [[one for one in entries if one.sense == sense] for sense in senses] if named else [[one] for one in entries]
    )
    coincide = projection.explained[0] == 0
    # Room for symbols and numbers at the edge.
    reach = 1.25 * max(abs(value) for point in projection.points for value in point) or 1.0
    sides = free_sides(projection.points, reach)
    drawn = []
    for place, group in enumerate(groups):
        sense, spots = group[0].sense, [entry.number - 1 for entry in group]
        x, y = zip(*(projection.points[spot] for spot in spots), strict=True)
        look: Look = {"symbol": SYMBOLS[place] if named else "circle", "size": 14, "hover": "%{customdata}"}
        look |= {"customdata": [label(f"{entry.number}. {entry.sentence}", 90) for entry in group]}
        if not coincide:
            look |= {"texts": [str(entry.number) for entry in group], "textfont": {"size": 15}}
            look |= {"textposition": [sides[spot] for spot in spots]}
        colour = "@muted" if named and sense is None else SERIES[place]
        drawn.append(points(x, y, colour, label(sense or "no sense given", 24) if named else "", **look))
    marks = [note(f"all {len(entries)} at one point", 0, 0, yshift=24)] if coincide else []
    shares = [f" ({percent(share)})" if share else "" for share in projection.explained]
    look = {"span": (-reach, reach), "showticklabels": False}
    across = axis(f"component 1{shares[0]}", **look)
    # A unit is as long on both axes, so that distances compare.
    up = axis(f"component 2{shares[1]}", scaleanchor="x", constrain="domain", **look)
    look = {"height": 360, "legend": named, "legend_size": 15, "above": 8}
    return chart(layer_sentence(result, layer), drawn, across, up, marks, **look)


def free_sides(points: Sequence[Sequence[float]], reach: float) -> list[str]:
    """Choose a side for each point's number, on which it covers as few points and numbers as can be."""
    spots = [(PLANE_PIXELS * x / reach, PLANE_PIXELS * y / reach) for x, y in points]
    numbers: list[tuple[float, float]] = []  # those that are placed already
    chosen = []
    for x, y in spots:
        places = {side: (x + across, y + up) for side, (across, up) in SIDES.items()}
        side = min(places, key=lambda name: sum(math.dist(places[name], spot) < NEAR for spot in (*spots, *numbers)))
        chosen.append(side)
        numbers.append(places[side])
    return chosen


def pairs_figure(result: ContextResult, layer: int, adjusted: bool) -> Picture:
    """Draw the cosine of each two sentences in one layer, on a scale that all layers share: no colour changes its
    meaning.
    """
    view, count = result.at(layer), len(result.occurrences)
    values = [
        # The diagonal is left out: it is 1 everywhere and would take the scale.
        [None if i == j else view.cosines[i][j] - adjusted * view.baseline for j in range(count)]
        for i in range(count)
    ]
    shown = [cosine - adjusted * of.baseline for of in result.layers for cosine in alike(result, of.layer).values()]
    bound = max(map(abs, shown))
    # Not from above 0.9: small differences would fill the scale.
    scale, ends = (DIVERGING, (-bound, bound)) if adjusted else (MAGNITUDE, (min([*shown, 0.9]), 1))
    numbers = [str(entry.number) for entry in result.occurrences]
    names = [label(f"{entry.number} {entry.sense or ''}".strip(), 14) for entry in result.occurrences]
    key, hover = colorbar(form=".1f", thickness=12, len=0.9), "sentences %{x} and %{y}: %{z:.3f}"
    look: Look = {"texts": two, "size": 15 if count <= 6 else 14, "bar": key, "hover": hover, "hoverongaps": False}
    cells = heat(numbers, names, values, scale, ends, **look)
    across = axis("cosine minus baseline, by sentence" if adjusted else "cosine, by sentence", names=True, top=True)
    return chart(layer_sentence(result, layer), cells, across, axis(names=True, down=True), height=360, above=52)
