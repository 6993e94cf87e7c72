"""Which directions an update uses, as pictures, sentences and tables: between two runs, and inside W's spectrum."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Panel, Picture, Trace, axis, bars, chart, colorbar, heat, level, picture
from explorer.charts.words import caption, facts, label, measures, number, percent, prose, strong
from explorer.labs.delta.schema import BASES, PlacementResult, SimilarityResult
from explorer.labs.delta.spectrum_figures import module_name
from explorer.tables import Table

Grid = Sequence[Sequence[float]]

CELLS_WITH_TEXT = 5
"""A heatmap with more columns than this has no room for numbers."""


def similarity_table(result: SimilarityResult) -> Table:
    """i, j (from 1), phi."""
    rows = [(i, j, phi) for i, row in enumerate(result.phi, start=1) for j, phi in enumerate(row, start=1)]
    return Table.of(("i", "j", "phi"), rows)


def similarity_sentence(result: SimilarityResult) -> Markup:
    """Say how much of the strongest direction the two share, beside chance."""
    place, share = f"Layer {result.layer}, {module_name(result.module)}: ", strong(percent(result.phi[0][-1]))
    said = f" of the strongest direction of {result.name_a} lies in the space of {result.name_b}'s directions (chance: "
    return prose(place, share, said, f"{percent(result.expected[0][-1])}).")


def similarity_notes(result: SimilarityResult) -> Markup:
    """State how much of the strongest direction the two runs share, and how much of all directions, each beside chance."""
    ra, rb = len(result.phi), len(result.phi[0])
    first, whole = result.phi[0][-1], result.phi[-1][-1]
    return caption(
        f"Layer {result.layer}, {module_name(result.module)}: ",
        strong(percent(first)),
        f" of the strongest direction of {result.name_a} lies in the space of {result.name_b}'s {_directions(rb)} "
        f" (chance: {percent(result.expected[0][-1])}). Of all {_directions(ra)} it is ",
        strong(percent(whole) if ra <= rb else f"φ = {number(whole)}"),  # a share only of the smaller space
        f" (chance: {percent(result.expected[-1][-1])}).",
    )


def similarity_facts(result: SimilarityResult) -> Markup:
    """State in one line φ of strongest against strongest, and which directions in which space."""
    return facts(
        measures(
            f"φ(1, 1) = {number(result.phi[0][0])}, strongest against strongest",
            f"chance {number(result.expected[0][0])}",
            f"directions: {BASES[result.basis]}",
            f"a space of {result.width} dimensions",
        )
    )


def _directions(count: int) -> str:
    return "one direction" if count == 1 else f"{count} directions"


def similarity_figure(result: SimilarityResult) -> Picture:
    """Draw the paper's heatmap, i down and j across, beside the same of two random subspaces.

    A phone has one above the other.
    """
    numbers, upside = axis(grid=False, tickformat="d", nticks=9), axis(down=True, grid=False, tickformat="d", nticks=9)
    across = axis(f"j: {label(result.name_b, 24)}") | numbers
    down = axis(f"i: {label(result.name_a, 24)}") | upside
    found, drawn = _phi_grid(result, result.phi), _phi_grid(result, result.drawn)
    alone = Panel((), numbers, down, "the two runs"), Panel((), across, down, "two random subspaces")
    panels = [
        Panel(found, across, down, alone[0].title, alone=alone[0]),
        Panel(drawn, axis("j") | numbers, upside, alone[1].title, alone=alone[1]),
    ]
    scale = {"colorscale": DIVERGING, "cmin": -_most(result), "cmax": _most(result), "colorbar": colorbar("φ − chance")}
    return picture(similarity_sentence(result), panels, height=380, phone=560, coloraxis=scale)


def _phi_grid(result: SimilarityResult, rows: Grid) -> list[Trace]:
    """Draw cells coloured by φ minus its chance level, which depends on the cell's i and j."""
    chance, most = result.expected, _most(result)
    small = len(rows[0]) <= CELLS_WITH_TEXT
    pairs = [list(zip(row, expected, strict=True)) for row, expected in zip(rows, chance, strict=True)]
    hover = "φ(%{y}, %{x}) = %{customdata[0]:.4f}, chance %{customdata[1]:.4f}"
    look: Look = (
        {"gap": 1, "texts": [[f"{phi:.2f}" for phi in row] for row in rows], "size": 14} if small else {"gap": 0}
    )
    i, j = range(1, len(rows) + 1), range(1, len(rows[0]) + 1)
    above = _above(rows, chance)
    return heat(j, i, above, DIVERGING, (-most, most), shared=True, customdata=pairs, hover=hover, **look)


def _most(result: SimilarityResult) -> float:
    """Return the end of both grids' colours: the largest distance from chance; 1 if nothing differs from it."""
    gaps = [abs(gap) for rows in (result.phi, result.drawn) for row in _above(rows, result.expected) for gap in row]
    return max(gaps) or 1.0


def _above(rows: Grid, chance: Grid) -> list[list[float]]:
    """Return φ less what chance gives."""
    return [
        [phi - expected for phi, expected in zip(row, others, strict=True)]
        for row, others in zip(rows, chance, strict=True)
    ]


def placement_table(result: PlacementResult) -> Table:
    """first, last (direction of W in a bin), right, left (shares of ΔW's energy), expected_right, expected_left (if random)."""
    columns = ("first", "last", "right", "expected_right", "left", "expected_left")
    return Table.of(columns, [(start, stop, *shares) for start, stop, *shares in _bins(result)])


def _bins(result: PlacementResult) -> list[tuple[int, int, float, float, float, float]]:
    stops = [start - 1 for start in result.starts[1:]] + [result.last]
    return list(
        zip(result.starts, stops, result.right, result.expected_right, result.left, result.expected_left, strict=True)
    )


def placement_sentence(result: PlacementResult) -> Markup:
    """Say how much of ΔW lies in the strongest directions of W, as multiples of what a random update would have there."""
    if not sum(result.right):
        return prose("ΔW is zero, so it lies nowhere yet.")
    _, _, right, expected_right, left, expected_left = _bins(result)[0]
    place = f"Layer {result.layer}, {module_name(result.module)}: W's strongest directions hold "
    sides = (strong(f"{number(right / expected_right)} times"), strong(f"{number(left / expected_left)} times"))
    return prose(place, sides[0], " as much of ΔW as chance on the input side, ", sides[1], " on the output side.")


def placement_notes(result: PlacementResult) -> Markup:
    """Say how much of ΔW lies in the strongest directions of W, beside what a random update would have there."""
    if not sum(result.right):
        return Markup("")
    first, stop, right, expected_right, left, expected_left = _bins(result)[0]
    top = f"direction {stop}" if first == stop else f"{stop} strongest directions"
    parts = [
        f"Layer {result.layer}, {module_name(result.module)}: W's {top} on its input side hold ",
        strong(percent(right)),
        f" of ΔW's energy, {number(right / expected_right)} times what a random update would have there; on its output side ",
        strong(percent(left)),
        f", {number(left / expected_left)} times. Bars above 1 mark directions of W that the update uses more than chance.",
    ]
    outside = max(result.outside_right, result.outside_left)  # one side at most: the longer
    if outside:
        side = "input" if result.outside_right else "output"
        parts.append(f" {percent(outside)} lies where W, which is not square, has no direction on its {side} side.")
    return caption(*parts)


def placement_figure(result: PlacementResult) -> Picture:
    """Draw bars over W's singular directions from the strongest: ΔW's energy there as a multiple of a random update's."""
    bins = _bins(result)
    centres = [(start + stop) / 2 for start, stop, *_ in bins]
    sides = (
        ("what W reads (right-singular)", "@first", [(entry[2], entry[3]) for entry in bins]),
        ("what W writes (left-singular)", "@second", [(entry[4], entry[5]) for entry in bins]),
    )
    hover = "directions %{customdata[1]} to %{customdata[2]}: %{y:.3g} times chance, %{customdata[0]:.3%} of the energy"
    traces = [
        bars(
            centres,
            [share / expected for share, expected in pairs],
            colour,
            name,
            upright=True,
            hover=hover,
            customdata=[[share, start, stop] for (share, _), (start, stop, *_) in zip(pairs, bins, strict=True)],
        )
        for name, colour, pairs in sides
    ]
    across = axis("direction of W, from the strongest", grid=False, tickformat="d")
    up, said = axis("energy, × chance", zero=True), placement_sentence(result)
    return chart(said, traces, across, up, [level(1)], legend=True, bargap=0.15, bargroupgap=0)
