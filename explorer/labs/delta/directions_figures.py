"""Which directions an update uses, as pictures, sentences and tables: between two runs, and inside W's spectrum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, cell_texts, label, percent, picture, prose, strong
from explorer.labs.delta.figures import heading, module_name, number
from explorer.labs.delta.schema import BASES, PlacementResult, SimilarityResult
from explorer.tables import Table

Grid = Sequence[Sequence[float]]

CELLS_WITH_TEXT = 5
"""A heatmap with more columns than this has no room for numbers."""


def similarity_table(result: SimilarityResult) -> Table:
    """i, j (from 1), phi."""
    rows = [(i, j, phi) for i, row in enumerate(result.phi, start=1) for j, phi in enumerate(row, start=1)]
    return Table.of(("i", "j", "phi"), rows)


def similarity_sentence(result: SimilarityResult) -> Markup:
    """How much of the strongest direction the two share, and how much of everything, each beside chance."""
    ra, rb = len(result.phi), len(result.phi[0])
    first, whole = result.phi[0][-1], result.phi[-1][-1]
    return prose(
        f"Layer {result.layer}, {module_name(result.module)}: ",
        strong(percent(first)),
        f" of the strongest direction of {result.name_a} lies in the space of {result.name_b}'s {_directions(rb)} "
        f" (chance: {percent(result.expected[0][-1])}). Of all {_directions(ra)} it is ",
        strong(percent(whole) if ra <= rb else f"φ = {number(whole)}"),
        f" (chance: {percent(result.expected[-1][-1])}).",
    )


def similarity_facts(result: SimilarityResult) -> Markup:
    """One line below the figure: strongest against strongest, and which directions in which space."""
    cells = (
        f"φ(1, 1) = {number(result.phi[0][0])}, strongest against strongest",
        f"chance {number(result.expected[0][0])}",
        f"directions: {BASES[result.basis]}",
        f"a space of {result.width} dimensions",
    )
    spans = Markup("").join(Markup("<span>{}</span>").format(cell) for cell in cells)
    return Markup('<ul class="facts"><li>{}</li></ul>').format(spans)


def _directions(count: int) -> str:
    return "one direction" if count == 1 else f"{count} directions"


def similarity_figure(result: SimilarityResult) -> dict[str, Any]:
    """The paper's heatmap, i down and j across, beside the same of two random subspaces; one above the other on a phone."""
    grids = [*_phi_grid(result, result.phi, ""), *_phi_grid(result, result.drawn, "2")]
    traces = sorted(grids, key=lambda trace: trace["type"] != "heatmap")  # a press tells which of the two it meets
    described = similarity_sentence(result).striptags()
    wide = picture(traces, described, **_two_grids(result, stacked=False))
    return wide | {"narrow": picture(traces, described, **_two_grids(result, stacked=True))["layout"]}


def _phi_grid(result: SimilarityResult, rows: Grid, suffix: str) -> list[dict[str, Any]]:
    """Coloured by what φ has above chance, which is another one in every cell."""
    chance = result.expected
    small = len(rows[0]) <= CELLS_WITH_TEXT
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": _above(rows, chance),
        "customdata": [list(zip(row, expected, strict=True)) for row, expected in zip(rows, chance, strict=True)],
        "x": list(range(1, len(rows[0]) + 1)),
        "y": list(range(1, len(rows) + 1)),
        "xaxis": f"x{suffix}",
        "yaxis": f"y{suffix}",
        "coloraxis": "coloraxis",
        "xgap": 1 if small else 0,
        "ygap": 1 if small else 0,
        "hovertemplate": "φ(%{y}, %{x}) = %{customdata[0]:.4f}, chance %{customdata[1]:.4f}<extra></extra>",
    }
    if not small:
        return [trace]
    scale = {"colorscale": DIVERGING, "zmin": -_most(result), "zmax": _most(result)}
    return [trace, cell_texts(trace | scale, [[f"{phi:.2f}" for phi in row] for row in rows], 14)]


def _most(result: SimilarityResult) -> float:
    """Where both grids' colours end: the largest distance from chance; 1 where nothing differs from it."""
    gaps = [abs(gap) for rows in (result.phi, result.drawn) for row in _above(rows, result.expected) for gap in row]
    return max(gaps) or 1.0


def _above(rows: Grid, chance: Grid) -> list[list[float]]:
    """φ less what chance gives."""
    return [
        [phi - expected for phi, expected in zip(row, others, strict=True)]
        for row, others in zip(rows, chance, strict=True)
    ]


def _two_grids(result: SimilarityResult, stacked: bool) -> dict[str, Any]:
    titles = ("the two runs", "two random subspaces")
    across = {"title": {"text": f"j: {label(result.name_b, 24)}"}, "showgrid": False, "tickformat": "d", "nticks": 9}
    down = {
        "title": {"text": f"i: {label(result.name_a, 24)}"},
        "showgrid": False,
        "autorange": "reversed",
        "tickformat": "d",
        "nticks": 9,
    }
    bar = {"title": {"text": "φ − chance"}, "thickness": 14}
    most = _most(result)
    scale = {"colorscale": DIVERGING, "cmin": -most, "cmax": most}
    shared = {"coloraxis": {**scale, "colorbar": bar, "showscale": not stacked}}
    if stacked:
        places = ([0.0, 1.0], [0.56, 1.0]), ([0.0, 1.0], [0.0, 0.44])
    else:
        places = ([0.0, 0.47], [0.0, 1.0]), ([0.55, 1.0], [0.0, 1.0])
    (x, y), (x2, y2) = places
    return {
        "height": 560 if stacked else 380,
        **shared,
        "annotations": [heading(titles[0], x[0], y[1]), heading(titles[1], x2[0], y2[1])],
        "xaxis": {**across, "domain": x, **({"title": {"text": ""}} if stacked else {})},
        "yaxis": {**down, "domain": y},
        "xaxis2": {**across, "domain": x2, "anchor": "y2", **({} if stacked else {"title": {"text": "j"}})},
        "yaxis2": {**down, "domain": y2, "anchor": "x2", **({} if stacked else {"title": {"text": ""}})},
    }


def placement_table(result: PlacementResult) -> Table:
    """first and last direction of W in a bin, right and left share of ΔW's energy, and what a random update has."""
    columns = ("first", "last", "right", "expected_right", "left", "expected_left")
    return Table.of(columns, [(start, stop, *shares) for start, stop, *shares in _bins(result)])


def _bins(result: PlacementResult) -> list[tuple[int, int, float, float, float, float]]:
    stops = [start - 1 for start in result.starts[1:]] + [result.last]
    return list(
        zip(
            result.starts,
            stops,
            result.right,
            result.expected_right,
            result.left,
            result.expected_left,
            strict=True,
        )
    )


def placement_sentence(result: PlacementResult) -> Markup:
    """How much of ΔW lies in the strongest directions of W, beside what a random update would have there."""
    if not sum(result.right):
        return prose("ΔW is zero, so it lies nowhere yet.")
    first, stop, right, expected_right, left, expected_left = _bins(result)[0]
    top = f"direction {stop}" if first == stop else f"{stop} strongest directions"
    parts = [
        f"Layer {result.layer}, {module_name(result.module)}: W's {top} on its input side hold ",
        strong(percent(right)),
        f" of ΔW's energy, {number(right / expected_right)} times what a random update would have there; on its output side ",
        strong(percent(left)),
        f", {number(left / expected_left)} times. Bars above 1 mark directions of W that the update uses more than chance.",
    ]
    outside = max(result.outside_right, result.outside_left)
    if outside:
        side = "input" if result.outside_right else "output"
        parts.append(f" {percent(outside)} lies where W, which is not square, has no direction on its {side} side.")
    return prose(*parts)


def placement_figure(result: PlacementResult) -> dict[str, Any]:
    """Bars over W's singular directions from the strongest: ΔW's energy there as a multiple of a random update's."""
    bins = _bins(result)
    centres = [(start + stop) / 2 for start, stop, *_ in bins]
    sides = (
        ("what W reads (right-singular)", "first", [(entry[2], entry[3]) for entry in bins]),
        ("what W writes (left-singular)", "second", [(entry[4], entry[5]) for entry in bins]),
    )
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": centres,
            "y": [share / expected for share, expected in pairs],
            "customdata": [[share, start, stop] for (share, _), (start, stop, *_) in zip(pairs, bins, strict=True)],
            "marker": {"color": f"@{colour}"},
            "hovertemplate": "directions %{customdata[1]} to %{customdata[2]}: %{y:.3g} times chance, "
            "%{customdata[0]:.3%} of the energy<extra></extra>",
        }
        for name, colour, pairs in sides
    ]
    chance = {"color": "@text", "width": 2, "dash": "dash"}
    changes: dict[str, Any] = {
        "shapes": [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": chance}],
        "bargap": 0.15,
        "bargroupgap": 0,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "xaxis": {"title": {"text": "direction of W, from the strongest"}, "showgrid": False, "tickformat": "d"},
        "yaxis": {"title": {"text": "energy, × chance"}, "rangemode": "tozero"},
    }
    return picture(traces, placement_sentence(result).striptags(), height=400, **changes)
