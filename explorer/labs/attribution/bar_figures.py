"""Bars of several methods side by side on the same tokens, how far their ranks agree, and conductance layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, MONOSPACED, cell_texts, ink, label, layout, picture, prose, strong
from explorer.labs.attribution.figures import MOST_BARS, layers_sentence, sentence, signed, unit_name, value_text
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
    """The numbers of the units that the bars show."""
    everything = list(range(len(result.units)))
    if len(everything) <= MOST_BARS:
        return everything
    weight = [0.0] * len(everything)
    counting = [part for part in result.by_token if part.method != "rollout"] or result.by_token
    for part in counting:
        known = [abs(value or 0.0) for value in part.values]
        strongest = part.strongest or 1.0
        weight = [max(before, value / strongest) for before, value in zip(weight, known, strict=True)]
    return sorted(sorted(everything, key=lambda number: -weight[number])[:MOST_BARS])


def bars_figure(result: AttributionResult) -> dict[str, Any]:
    """One column of bars for each method, the rollout last; one line for each token. Grey: kept in the baseline."""
    numbers, parts = shown_units(result), result.by_token
    traces = [_bars(result, part, place, numbers) for place, part in enumerate(parts)]
    above = TITLE_PIXELS if len(parts) <= MOST_SIDE_BY_SIDE else TITLE_PIXELS + 36
    height = above + BAR_PIXELS * max(4, len(numbers))
    width = (1 - GAP * (len(parts) - 1)) / len(parts)
    wide = [([place * (width + GAP), place * (width + GAP) + width], [0.0, 1.0]) for place in range(len(parts))]
    share = 1 / len(parts)
    gap = 48 / (height * len(parts))
    stacked = [([0.0, 1.0], [1 - (place + 1) * share, 1 - place * share - gap]) for place in range(len(parts))]
    figure = picture(
        traces,
        sentence(result).striptags(),
        height=height,
        margin={"l": 8, "r": 8, "t": above - 20, "b": 8},
        bargap=0.25,
        **_axes(result, numbers, wide, alone=False),
    )
    figure["narrow"] = layout(
        height=height * len(parts),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        bargap=0.25,
        **_axes(result, numbers, stacked, alone=True),
    )
    return figure


def _axis(place: int) -> str:
    return "" if place == 0 else str(place + 1)


def _bars(result: AttributionResult, part: Part, place: int, numbers: Sequence[int]) -> dict[str, Any]:
    values = [part.values[number] for number in numbers]
    names = [label(unit_name(result, result.units[number])) for number in numbers]
    return {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": list(range(len(numbers))),
        "xaxis": f"x{_axis(place)}",
        "yaxis": f"y{_axis(place)}",
        "text": ["" if value is None else value_text(part, value) for value in values],
        "textposition": "outside",
        "textfont": {"size": 14},
        "cliponaxis": False,
        "customdata": names,
        "marker": {"color": [_colour(result, part, number) for number in numbers]},
        "hovertemplate": "%{customdata}: %{text}<extra>" + part.about.title + "</extra>",
    }


def _colour(result: AttributionResult, part: Part, number: int) -> str:
    if result.units[number].kept:
        return "@muted"
    if not part.about.signed:
        return "@highlight" if part.method == "rollout" else "@third"
    return "@first" if (part.values[number] or 0.0) >= 0 else "@second"


def _axes(result: AttributionResult, numbers: Sequence[int], places: Sequence[Any], alone: bool) -> dict[str, Any]:
    """Every column's axes and title; only the first has the tokens' names, or each where it stands alone."""
    axes: dict[str, Any] = {}
    titles = []
    ticks = [label(result.units[number].shown, LONGEST_NAME) for number in numbers]
    crowded = len(places) > MOST_SIDE_BY_SIDE and not alone
    for place, (part, (across, down)) in enumerate(zip(result.by_token, places, strict=True)):
        title = part.about.title.replace(" ", "<br>", 1) if crowded else part.about.title
        axes[f"xaxis{_axis(place)}"] = {
            "domain": across,
            "anchor": f"y{_axis(place)}",
            "range": _range(part, numbers, room=0.4 if alone else 0.15 + 0.15 * len(places)),
            "showticklabels": False,
            "showgrid": False,
            "zeroline": True,
            "zerolinecolor": "@muted",
        }
        axes[f"yaxis{_axis(place)}"] = {
            "domain": down,
            "anchor": f"x{_axis(place)}",
            "range": [len(numbers) - 0.5, -0.5],
            "tickmode": "array",
            "tickvals": list(range(len(numbers))),
            "ticktext": ticks,
            "tickfont": {"size": 15, "family": MONOSPACED},
            "showticklabels": alone or place == 0,
            "showgrid": True,
            "zeroline": False,
        }
        titles.append(
            {
                "text": f"<b>{title}</b><br>{_under(part, crowded)}",
                "x": across[0] if alone else sum(across) / 2,
                "y": down[1],
                "xref": "paper",
                "yref": "paper",
                "xanchor": "left" if alone else "center",
                "yanchor": "bottom",
                "showarrow": False,
                "align": "left" if alone else "center",
                "font": {"size": 14},
            }
        )
    return {**axes, "annotations": titles}


def _under(part: Part, crowded: bool) -> str:
    """The line below a column's title, with the unit of the bars."""
    if None in part.values:
        return "being worked out"
    if part.method == "rollout":
        return "shares, no sign"
    if not part.about.signed:
        return "gradient's length"
    return f"sum {signed(part.total)}{'<br>' if crowded else ' '}log-odds"


def _range(part: Part, numbers: Sequence[int], room: float) -> list[float]:
    """The bars' own range, with room for the numbers beside them (a share of it) on the sides to which they point."""
    known = [part.values[number] or 0.0 for number in numbers]
    low, high = min(0.0, *known), max(0.0, *known)
    span = (high - low) or 1.0
    return [low - (1.3 * room * span if low < 0 else 0.04 * span), high + room * span]  # a minus is wide


def compared_parts(result: AttributionResult) -> list[tuple[Part, list[float]]]:
    """The methods whose ranks can be compared, with how much each token counts."""
    found = [(part, strengths(result, part)) for part in result.by_token]
    return [(part, values) for part, values in found if values is not None]


def agreement_figure(result: AttributionResult) -> dict[str, Any] | str:
    """Spearman's rank correlation of every two methods; nothing where there is only one."""
    parts = compared_parts(result)
    if len(parts) < 2:
        return ""
    names = [part.about.title.replace(" ", "<br>", 1) for part, _ in parts]
    cells = [[spearman(one, other) for _, other in parts] for _, one in parts]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": cells,
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": [["–" if cell is None else f"{cell:.2f}".replace("-", "−") for cell in row] for row in cells],
        "hovertemplate": "%{y} and %{x}: %{text}<extra></extra>",
    }
    return picture(
        [trace, cell_texts(trace, trace["text"], 17)],
        agreement_sentence(result).striptags(),
        height=110 + 46 * len(parts),
        xaxis={"type": "category", "tickfont": {"size": 14}, "showgrid": False, "tickangle": 0},
        yaxis={"type": "category", "autorange": "reversed", "tickfont": {"size": 14}, "showgrid": False},
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
    )


def agreement_sentence(result: AttributionResult) -> Markup:
    """How alike the methods rank the tokens."""
    parts = compared_parts(result)
    changed = sum(not unit.kept for unit in result.units)
    pairs = [
        (value, one, other)
        for number, (one, first) in enumerate(parts)
        for other, second in parts[number + 1 :]
        if (value := spearman(first, second)) is not None
    ]
    if not pairs:
        return prose(f"Ranks of {changed} {result.by} cannot be compared: there are too few, or all are alike.")
    least, one, other = min(pairs, key=lambda pair: pair[0])
    return prose(
        f"Over the {changed} {result.by} that the baseline changes, by how much they count whatever their sign: ",
        strong(one.about.title),
        " and ",
        strong(other.about.title),
        " agree least" if len(pairs) > 1 else " agree",
        f" (rank correlation {least:.2f}).".replace("-", "−"),
    )


def layers_figure(result: AttributionResult) -> dict[str, Any] | str:
    """Conductance: a row for each layer, the last one on top, a column for each token; nothing until it is there."""
    part = next((part for part in result.chosen if part.layers), None)
    if part is None:
        return ""
    names = [label(unit_name(result, unit), LONGEST_NAME) for unit in result.units]
    bound = max(abs(value) for row in part.layers for value in row) or 1.0
    numbers = list(range(1, len(part.layers) + 1))
    few = len(names) <= MOST_NAMED
    trace = {
        "type": "heatmap",
        "z": [list(row) for row in part.layers],
        "x": list(range(len(names))),
        "y": numbers,
        "customdata": [names] * len(numbers),
        "text": [[signed(value) for value in row] for row in part.layers],
        "colorscale": DIVERGING,
        "zmin": -bound,
        "zmax": bound,
        "xgap": 1 if few else 0,
        "ygap": 1,
        "colorbar": {"title": {"text": "log-odds"}, "thickness": 12},
        "hovertemplate": "layer %{y}<br>%{customdata}: %{text}<extra></extra>",
    }
    ticks = {"tickmode": "array", "tickvals": list(range(len(names))), "ticktext": names} if few else {}
    sums = [f"{number} · sum {signed(sum(row))}" for number, row in zip(numbers, part.layers, strict=True)]
    shape = {"height": 110 + 30 * len(numbers), "margin": {"l": 8, "r": 8, "t": 12, "b": 8}}
    xaxis = {
        **ticks,
        "title": {"text": "" if few else "position"},
        "tickfont": {"size": 14, "family": MONOSPACED},
        "showgrid": False,
    }
    yaxis = {"tickmode": "array", "tickvals": numbers, "title": {"text": "layer"}, "showgrid": False}
    written = _cells(part, bound) if len(names) <= MOST_WRITTEN else []
    wide = {**shape, "xaxis": xaxis, "yaxis": {**yaxis, "ticktext": sums}, "annotations": written}
    figure = picture([trace], layers_sentence(result).striptags(), **wide)
    figure["narrow"] = layout(**shape, xaxis={**xaxis, "tickangle": -90}, yaxis=yaxis)
    return figure


def _cells(part: Part, bound: float) -> list[dict[str, Any]]:
    """The numbers of a small heatmap, for screens that are wide enough for them."""
    return [
        {
            "x": place,
            "y": number,
            "text": signed(value),
            "showarrow": False,
            "font": {"size": 14, "color": ink((value / bound + 1) / 2, DIVERGING)},
        }
        for number, row in enumerate(part.layers, start=1)
        for place, value in enumerate(row)
    ]
