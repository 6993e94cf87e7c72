"""Several methods side by side on the same tokens, how far their ranks agree, and conductance layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, groupby

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Mark, Panel, Picture, axis, bars, colorbar, heat, note, picture
from explorer.charts.colours import MONOSPACED, ink
from explorer.charts.words import caption, counted, fixed, in_quotes, label, percent, prose, signed, strong
from explorer.charts.words import caption as small
from explorer.labs.attribution.figures import MOST_BARS, sentence, unit_name, unit_said, value_text, which
from explorer.labs.attribution.schema import AttributionResult, Part, spearman, strengths


def layers_sentence(result: AttributionResult) -> Markup:
    """Say through which token the largest part flows in the first layer and in the last.

    It is called "most" if it is more than half in both.
    """
    found = _flows(result)
    if found is None:
        return Markup("")
    leading, shares = found
    first, last = leading[0], leading[-1]
    start = "Most" if min(shares[0], shares[-1]) > 0.5 else "The largest part"
    named = unit_said(result, result.units[first])
    said = prose(start, " of the difference from the baseline flows through ", named)
    if len(set(leading)) == 1:
        return prose(said, " in every layer." if len(leading) > 1 else " in the one layer.")
    if first == last:
        return prose(said, " in the first layer and in the last.")
    return prose(said, " in the first layer and through ", unit_said(result, result.units[last]), " in the last.")


def layers_notes(result: AttributionResult) -> Markup:
    """Say layer by layer through which token most flows, with the shares, and what every layer adds up to."""
    found = _flows(result)
    if found is None:
        return Markup("")
    leading, shares = found
    grouped = groupby(enumerate(leading, start=1), key=lambda pair: pair[1])
    stretches = [(unit, [number for number, _ in group]) for unit, group in grouped]
    pieces: list[str] = ["Most" if min(shares) > 0.5 else "The largest part", " of it flows through "]
    for place, (number, layers) in enumerate(stretches):
        where = f"layer {layers[0]}" if len(layers) == 1 else f"layers {layers[0]} to {layers[-1]}"
        held = [shares[layer - 1] for layer in layers]
        share = percent(held[0]) if len(held) == 1 else f"{percent(min(held))} to {percent(max(held))}"
        unit = result.units[number]
        named = prose(in_quotes(unit.shown, bold=False), which(result, unit))
        pieces += [", then " if place else "", named, f" ({where}: {share})"]
    last = " After the last layer it is read at one token alone, so all of it stands there."
    # From here on it would be written as 100%.
    rest = f". Each layer hands on the same sum, f(x) − f(baseline).{last if shares[-1] > 0.9995 else ''}"
    return small(*pieces, rest)


def _flows(result: AttributionResult) -> tuple[list[int], list[float]] | None:
    """Return, for each layer, the number of the unit that most flows through, and its share of what flows there."""
    part = next((part for part in result.chosen if part.layers), None)
    if part is None:
        return None
    side = 1 if result.asked.change >= 0 else -1  # a text may speak against its answer
    leading = [max(range(len(row)), key=lambda number: side * row[number]) for row in part.layers]
    return leading, [
        # A share of all that flows, whatever its sign: signs would cancel.
        abs(row[number]) / (sum(map(abs, row)) or 1.0)
        for row, number in zip(part.layers, leading, strict=True)
    ]


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
