"""Bars of several methods side by side on the same tokens, how far their ranks agree, and conductance layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Mark, Panel, Picture, axis, bars, colorbar, heat, note, picture
from explorer.charts.colours import MONOSPACED, ink
from explorer.charts.words import caption, counted, fixed, label, prose, signed, strong
from explorer.labs.attribution.figures import MOST_BARS, sentence, unit_name, value_text
from explorer.labs.attribution.layers_figures import layers_sentence
from explorer.labs.attribution.schema import AttributionResult, Part
from explorer.labs.attribution.units import spearman, strengths

MOST_NAMED = 44
"""Tokens whose names fit under the heatmap of layers."""

MOST_WRITTEN = 14
"""Tokens up to which the cells of the heatmap have their numbers in them."""

BAR_PIXELS, TITLE_PIXELS = 24, 62
GAP = 0.03
MOST_SIDE_BY_SIDE = 3
"""Columns up to which a method's name fits on one line."""

LONGEST_NAME = 18


def shown_units(result: AttributionResult) -> list[int]:
    """Return the numbers of the units that the bars show."""
    everything = list(range(len(result.units)))
    if len(everything) <= MOST_BARS:
        return everything
    weight = [0.0] * len(everything)
    # Shares of attention choose only if they are alone.
    counting = [part for part in result.by_token if part.method != "rollout"] or result.by_token
    for part in counting:
        known = [abs(value or 0.0) for value in part.values]
        strongest = part.strongest or 1.0
        weight = [max(before, value / strongest) for before, value in zip(weight, known, strict=True)]
    return sorted(sorted(everything, key=lambda number: -weight[number])[:MOST_BARS])  # back to the text's order


def bars_figure(result: AttributionResult) -> Picture:
    """Draw a column of bars for each method, the rollout last, and a line for each token. Grey: kept in the baseline."""
    numbers, parts = shown_units(result), result.by_token
    crowded = len(parts) > MOST_SIDE_BY_SIDE
    above = TITLE_PIXELS + 36 * crowded
    height = above + BAR_PIXELS * max(4, len(numbers))  # a title of two lines and a short text
    # More columns are narrower, and their numbers are not.
    panels = [_bars(result, part, numbers, 0.15 + 0.15 * len(parts), crowded) for part in parts]
    look: Look = {"phone": height * len(parts), "gap": GAP, "above": above - 20, "bargap": 0.25}
    return picture(sentence(result), panels, height=height, **look)


def _bars(result: AttributionResult, part: Part, numbers: Sequence[int], room: float, crowded: bool) -> Panel:
    """Draw a method's bars below its name. room: for the numbers beside them, as a share of the axis."""
    units, values = [result.units[number] for number in numbers], [part.values[number] for number in numbers]
    names, colours = [label(unit_name(result, unit)) for unit in units], [_colour(result, part, n) for n in numbers]
    written = ["" if value is None else value_text(part, value) for value in values]
    look: Look = {"customdata": names, "hover": "%{customdata}: %{text}", "aside": part.about.title}
    drawn = bars(range(len(units)), values, colours, texts=written, size=14, **look)
    bare: Look = {"showticklabels": False, "grid": False, "zeroline": True, "zerolinecolor": "@muted"}
    wide, phone = (axis(span=_range(part, numbers, share), **bare) for share in (room, 0.4))
    ticks: Look = {"tickvals": list(range(len(units))), "ticktext": [label(unit.shown, LONGEST_NAME) for unit in units]}
    font = {"size": 15, "family": MONOSPACED}
    # The first token is on top.
    down = axis(span=(len(units) - 0.5, -0.5), outer=True, tickmode="array", tickfont=font, zeroline=False, **ticks)
    alone = Panel((), phone, down, marks=[_title(part, 0, "left", False)])
    return Panel([drawn], wide, down, marks=[_title(part, 0.5, "center", crowded)], alone=alone)


def _title(part: Part, x: float, align: str, crowded: bool) -> Mark:
    """Write the method's name, and below it the unit of the bars."""
    name = part.about.title.replace(" ", "<br>", 1) if crowded else part.about.title
    place: Look = {"xref": "paper", "yref": "paper", "xanchor": align, "yanchor": "bottom"}
    return note(f"<b>{name}</b><br>{_under(part, crowded)}", x, 1, align=align, font={"size": 14}, **place)


def _colour(result: AttributionResult, part: Part, number: int) -> str:
    if result.units[number].kept:
        return "@muted"
    if not part.about.signed:
        return "@highlight" if part.method == "rollout" else "@third"
    return "@first" if (part.values[number] or 0.0) >= 0 else "@second"


def _under(part: Part, crowded: bool) -> str:
    """Write the line below a column's title, with the unit of the bars."""
    if None in part.values:
        return "being worked out"
    if part.method == "rollout":
        return "shares, no sign"
    if not part.about.signed:
        return "gradient's length"
    return f"sum {signed(part.total)}{'<br>' if crowded else ' '}log-odds"


def _range(part: Part, numbers: Sequence[int], room: float) -> list[float]:
    """Return the bars' own range, with room for the numbers beside them (a share of it) on the sides to which they
    point.
    """
    known = [part.values[number] or 0.0 for number in numbers]
    low, high = min(0.0, *known), max(0.0, *known)
    span = (high - low) or 1.0
    return [low - (1.3 * room * span if low < 0 else 0.04 * span), high + room * span]  # a minus is wide


def compared_parts(result: AttributionResult) -> list[tuple[Part, list[float]]]:
    """Return the methods whose ranks can be compared, with how much each token counts."""
    found = [(part, strengths(result, part)) for part in result.by_token]
    return [(part, values) for part, values in found if values is not None]


def agreement_figure(result: AttributionResult) -> Picture | str:
    """Draw Spearman's rank correlation of every two methods; return "" if there is only one."""
    parts = compared_parts(result)
    if len(parts) < 2:
        return ""
    names = [part.about.title.replace(" ", "<br>", 1) for part, _ in parts]
    cells = [[spearman(one, other) for _, other in parts] for _, one in parts]
    written = [["–" if cell is None else fixed(cell) for cell in row] for row in cells]
    hover, height = "%{y} and %{x}: %{text}", 110 + 46 * len(parts)
    drawn = heat(names, names, cells, DIVERGING, (-1, 1), texts=written, text=written, size=17, hover=hover)
    across, down = axis(names=True, size=14, tickangle=0), axis(names=True, size=14, down=True)
    return picture(agreement_sentence(result), [Panel(drawn, across, down)], height=height, above=8)


def agreement_sentence(result: AttributionResult) -> Markup:
    """Say which two methods rank the tokens least alike."""
    pairs = _correlated(result)
    if not pairs:
        return prose(f"The {result.by} have no ranks to compare: there are too few, or all are alike.")
    least, one, other = min(pairs, key=lambda pair: pair[0])
    alone = sum(value < least + 0.005 for value, _, _ in pairs) == 1 < len(pairs)  # by the two decimals that are shown
    how = " least alike, with" if alone else " with"
    both = [strong(one.about.title), " and ", strong(other.about.title)]
    return prose(*both, f" rank the {result.by}{how} a rank correlation of {fixed(least)}.")


def agreement_notes(result: AttributionResult) -> Markup:
    """Say what is ranked, and by what."""
    if not _correlated(result):
        return Markup("")
    changed = counted(sum(not unit.kept for unit in result.units), result.by.removesuffix("s"))
    return caption(
        f"Spearman's rank correlation over the {changed} that the baseline changes, by how much each counts, whatever its "
        "sign: 1 is the same order, 0 is no relation, −1 the opposite order."
    )


def _correlated(result: AttributionResult) -> list[tuple[float, Part, Part]]:
    """Return the rank correlation of every two methods that can be compared."""
    return [
        (value, one, other)
        for (one, first), (other, second) in combinations(compared_parts(result), 2)
        if (value := spearman(first, second)) is not None
    ]


def layers_figure(result: AttributionResult) -> Picture | str:
    """Draw conductance: a row for each layer, the last one on top, a column for each token; return "" until it is
    there.
    """
    part = next((part for part in result.chosen if part.layers), None)
    if part is None:
        return ""
    names = [label(unit_name(result, unit), LONGEST_NAME) for unit in result.units]
    places, numbers = list(range(len(names))), list(range(1, len(part.layers) + 1))
    bound = max(abs(value) for row in part.layers for value in row) or 1.0  # a scale needs two ends
    few = len(names) <= MOST_NAMED
    written = [list(map(signed, row)) for row in part.layers]
    # Gaps between narrow columns would hide them.
    look: Look = {"customdata": [names] * len(numbers), "text": written, "gap": 0, "xgap": int(few), "ygap": 1}
    look |= {"bar": colorbar("log-odds", thickness=12), "hover": "layer %{y}<br>%{customdata}: %{text}"}
    drawn = heat(places, numbers, part.layers, DIVERGING, (-bound, bound), **look)
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": names} if few else {"title": {"text": "position"}}
    across = axis(grid=False, tickfont={"size": 14, "family": MONOSPACED}) | ticks
    down = axis("layer", grid=False, tickmode="array", tickvals=numbers)
    sums = [f"{number} · sum {signed(sum(row))}" for number, row in zip(numbers, part.layers, strict=True)]
    marks = _cells(part, bound) if len(names) <= MOST_WRITTEN else []
    alone, height = Panel((), {**across, "tickangle": -90}, down), 110 + 30 * len(numbers)
    panel = Panel(drawn, across, {**down, "ticktext": sums}, marks=marks, alone=alone)
    return picture(layers_sentence(result), [panel], height=height, phone=height, above=12)


def _cells(part: Part, bound: float) -> list[Mark]:
    """Write the numbers of a small heatmap, for screens that are wide enough for them."""
    return [
        note(signed(value), place, number, font={"size": 14, "color": ink((value / bound + 1) / 2, DIVERGING)})
        for number, row in enumerate(part.layers, start=1)
        for place, value in enumerate(row)
    ]
