"""The metric against the share that is left, in three orders; and the heads that a visitor takes away."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import Any

from markupsafe import Markup

from explorer.figures import compact, label, picture, prose, strong
from explorer.labs.pruning.importance_figures import PLURALS
from explorer.labs.pruning.schema import HandResult, Measured, OrdersResult
from explorer.tables import Table

TITLES = {"least": "least important first", "random": "random order", "most": "most important first"}
COLOURS = {"least": "@third", "random": "@muted", "most": "@second"}
MOST_NAMES = 6
"""Heads that a sentence lists."""

NOTICEABLE = 0.02
"""What the sentence calls a loss."""


def orders_table(result: OrdersResult) -> Table:
    """order, draw, share, metric, parameters."""
    return Table.of(
        ("order", "draw", "share", "metric", "parameters"),
        [(point.order, point.draw, point.share, point.metric, point.parameters) for point in result.points],
    )


def _lines(result: OrdersResult) -> dict[str, list[tuple[float, float, float, float]]]:
    """(share gone, mean, lowest, highest) by order; over the draws of the random one."""
    by_order: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for point in result.points:
        if point.metric is not None:
            by_order[point.order][round(point.share, 6)].append(point.metric)
    return {
        order: [(share, mean(values), min(values), max(values)) for share, values in sorted(shares.items())]
        for order, shares in by_order.items()
    }


def orders_sentence(result: OrdersResult) -> Markup:
    """How much can go, in the best and the worst order."""
    lines = _lines(result)
    if not lines.get("least"):
        return prose(
            f"{result.about.metric} is not defined on these {result.about.held_out} held-out examples. Take more."
        )
    whole = lines["least"][0][1]
    units = PLURALS[result.unit]
    parts = [f"Whole, {result.about.name} has {result.about.metric.lower()} ", strong(f"{whole:.3f}"), ". "]
    if not result.done:
        return prose(*parts, f"{len(result.points)} of {result.total} points measured.")
    least, most = (strong(f"{100 * _until(lines[order], whole):.0f}%") for order in ("least", "most"))
    parts += [
        "Least important first, ", least, f" of the {units} can go before it falls by more than {NOTICEABLE}, most important "
        "first ", most, f". {result.about.held_out} held-out examples",
    ]  # fmt: skip
    if result.about.metric == "Accuracy":
        error = (whole * (1 - whole) / result.about.held_out) ** 0.5
        parts.append(f", so one standard error is {error:.3f}")
    return prose(*parts, ".")


def _until(line: list[tuple[float, float, float, float]], whole: float) -> float:
    """The largest share up to which every point is within NOTICEABLE."""
    last = 0.0
    for share, value, _, _ in line:
        if value < whole - NOTICEABLE:
            break
        last = share
    return last


def orders_figure(result: OrdersResult) -> dict[str, Any]:
    """Three lines over the share that is left, all of it on the left."""
    traces: list[dict[str, Any]] = []
    for order, line in _lines(result).items():
        left = [100 * (1 - share) for share, _, _, _ in line]
        if order == "random" and any(low < high for _, _, low, high in line):
            traces.append(
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [*left, *left[::-1]],
                    "y": [*(high for _, _, _, high in line), *[low for _, _, low, _ in line][::-1]],
                    "fill": "toself",
                    "line": {"width": 0},
                    "fillcolor": "rgba(138,148,163,0.25)",
                    "hoverinfo": "skip",
                    "showlegend": False,
                }
            )
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": TITLES[order],
                "x": left,
                "y": [value for _, value, _, _ in line],
                "line": {"color": COLOURS[order], "width": 3, "dash": "dot" if order == "random" else "solid"},
                "marker": {"size": 8},
                "hovertemplate": "%{x:.0f}% left: %{y:.3f}<extra></extra>",
            }
        )
    values = [value for line in _lines(result).values() for point in line for value in point[1:]]
    whole = max((line[0][1] for line in _lines(result).values()), default=1.0)
    low, high = min([*values, whole - 0.5]) - 0.03, max([*values, whole]) + 0.03  # the same from the first point on
    return picture(
        traces,
        orders_sentence(result).striptags(),
        height=340,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"title": {"text": f"{PLURALS[result.unit]} left (%)"}, "range": [102, -2]},
        yaxis={"title": {"text": label(result.about.metric)}, "range": [low, high]},
        margin={"l": 8, "r": 16, "t": 40, "b": 8},
    ) | {"low": 265}


def switches(result: HandResult) -> dict[str, Any]:
    """The grid of heads; one row where a layer is shared."""
    shape = result.about.shape
    return {
        "layers": shape.blocks,
        "heads": shape.heads,
        "off": [list(head) for head in result.heads],
        "label": "Heads",
    }


def measured_table(rows: list[tuple[float, Measured]]) -> Table:
    """share (gone), metric, parameters, milliseconds."""
    return Table.of(
        ("share", "metric", "parameters", "milliseconds"),
        [(share, one.metric, one.parameters, one.milliseconds) for share, one in rows],
    )


def hand_table(result: HandResult) -> Table:
    """The whole model, then the one without the heads."""
    shape = result.about.shape
    share = len(result.heads) / (shape.blocks * shape.heads)
    both = ((0.0, result.before), (share, result.after))
    return measured_table([(gone, measured) for gone, measured in both if measured])


def hand_sentence(result: HandResult) -> Markup:
    """What was lost with these heads."""
    before, after = result.before, result.after
    shape, metric = result.about.shape, result.about.metric.lower()
    names = ", ".join(f"{layer}.{head}" for layer, head in result.heads)
    those = f" ({names}, by layer and head)" if 0 < len(result.heads) <= MOST_NAMES else ""
    if before is None or after is None:
        return prose(f"Measuring without {len(result.heads)} heads{those}." if result.heads else "Measuring.")
    if not result.heads:
        return prose(
            f"No head is gone: {metric} ", strong(_metric(before)), f", {compact(before.parameters)} parameters."
        )
    shared = f" A head here serves all {shape.depth} depths, so it goes at each of them." if shape.shared else ""
    return prose(
        f"Without {len(result.heads)} of {shape.blocks * shape.heads} heads{those}: {metric} ",
        strong(_metric(after)), f" instead of {_metric(before)}, {compact(after.parameters)} parameters instead of "
        f"{compact(before.parameters)}, {_ms(after)} a batch of 16 instead of {_ms(before)}.{shared}",
    )  # fmt: skip


def _metric(measured: Measured) -> str:
    return "not defined" if measured.metric is None else f"{measured.metric:.3f}"


def _ms(measured: Measured) -> str:
    return "?" if measured.milliseconds is None else milliseconds(measured.milliseconds)


def milliseconds(value: float) -> str:
    """Three digits or so."""
    return f"{value:.1f} ms" if value < 100 else f"{value:,.0f} ms"
