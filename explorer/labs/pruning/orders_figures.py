"""The metric against the share that is left, in three orders; and the heads that a visitor takes away."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import Any

from markupsafe import Markup

from explorer.charts import Picture, Trace, axis, band, chart, line
from explorer.charts.words import caption, compact, counted, label, milliseconds, prose, strong
from explorer.labs.pruning.importance_figures import PLURALS, metric_text
from explorer.labs.pruning.schema import HandResult, Measured, OrdersResult
from explorer.runs.report import gap_text
from explorer.tables import Table

TITLES = {"least": "least important first", "random": "random order", "most": "most important first"}
COLOURS = {"least": "@third", "random": "@muted", "most": "@second"}
MOST_NAMES = 6
"""Heads that a sentence lists."""

NOTICEABLE = 0.02
"""What the sentence calls a loss."""


def orders_table(result: OrdersResult) -> Table:
    """order, draw, share, metric, parameters."""
    return Table.each(result.points, "order draw share metric parameters")


def _lines(result: OrdersResult) -> dict[str, list[tuple[float, float, float, float]]]:
    """Return (share gone, mean, lowest, highest) by order; over the draws of the random one."""
    by_order: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for point in result.points:
        if point.metric is not None:
            # One share by several draws may differ in the last digit.
            by_order[point.order][round(point.share, 6)].append(point.metric)
    return {
        order: [(share, mean(values), min(values), max(values)) for share, values in sorted(shares.items())]
        for order, shares in by_order.items()
    }


def orders_sentence(result: OrdersResult) -> Markup:
    """Say how much can go, in the best and the worst order."""
    lines = _lines(result)
    if not lines.get("least"):
        examples = counted(result.about.held_out, "held-out example")
        return prose(f"{result.about.metric} is not defined on these {examples}. Take more.")
    if not result.done:
        return prose(f"{result.about.name}: {len(result.points)} of {result.total} points measured.")
    whole = lines["least"][0][1]
    least, most = (strong(f"{100 * _until(lines[order], whole):.0f}%") for order in ("least", "most"))
    said = f" of the {PLURALS[result.unit]} can go before {result.about.metric.lower()} falls noticeably, most important first "
    return prose(f"{result.about.name}: least important first, ", least, said, most, ".")


def orders_notes(result: OrdersResult) -> Markup:
    """Say how much can go before the metric falls, beside what the whole model has."""
    lines = _lines(result)
    if not lines.get("least"):
        return Markup("")
    whole = lines["least"][0][1]
    units = PLURALS[result.unit]
    parts = [
        f"Whole, {result.about.name} has {result.about.metric.lower()} ",
        strong(metric_text(whole, result.about.metric)),
        ". ",
    ]
    if not result.done:
        return caption(*parts)
    noticeable = gap_text("accuracy", NOTICEABLE) if result.about.metric == "Accuracy" else NOTICEABLE
    least, most = (strong(f"{100 * _until(lines[order], whole):.0f}%") for order in ("least", "most"))
    parts += [
        "Least important first, ", least, f" of the {units} can go before it falls by more than {noticeable}, most important "
        "first ", most, f". {result.about.held_out} held-out examples",
    ]  # fmt: skip
    if result.about.metric == "Accuracy":
        error = (whole * (1 - whole) / result.about.held_out) ** 0.5  # of a share of so many examples
        parts.append(f", so one standard error is {gap_text('accuracy', error)}")
    return caption(*parts, ".")


def _until(line: list[tuple[float, float, float, float]], whole: float) -> float:
    """Return the largest share up to which every point is within NOTICEABLE."""
    last = 0.0
    for share, value, _, _ in line:
        if value < whole - NOTICEABLE:
            break
        last = share
    return last


def orders_figure(result: OrdersResult) -> Picture:
    """Draw three lines over the share that is left, all of it on the left."""
    traces: list[Trace] = []
    lines = _lines(result)
    for order, points in lines.items():
        shares, means, lows, highs = zip(*points, strict=True)
        left = [100 * (1 - share) for share in shares]
        if order == "random" and lows != highs:
            traces.append(band(left, lows, highs, "rgba(138,148,163,0.25)"))
        dash = "dot" if order == "random" else ""
        hover = "%{x:.0f}% left: %{y:.3f}"
        traces.append(line(left, means, COLOURS[order], TITLES[order], dash=dash, size=8, hover=hover))
    values = [value for points in lines.values() for point in points for value in point[1:]]
    whole = max((points[0][1] for points in lines.values()), default=1.0)
    low, high = min([*values, whole - 0.5]) - 0.03, max([*values, whole]) + 0.03  # the same from the first point on
    across = axis(f"{PLURALS[result.unit]} left (%)", span=(102, -2))
    up = axis(label(result.about.metric), span=(low, high))
    return chart(orders_sentence(result), traces, across, up, height=340, low=265, legend=True)


def switches(result: HandResult) -> dict[str, Any]:
    """Return the grid of heads; one row if a layer is shared."""
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
    """share (gone), metric, parameters, milliseconds: of the whole model, then of the one without the heads."""
    shape = result.about.shape
    share = len(result.heads) / (shape.blocks * shape.heads)
    both = ((0.0, result.before), (share, result.after))
    return measured_table([(gone, measured) for gone, measured in both if measured])


def hand_sentence(result: HandResult) -> Markup:
    """Say what was lost with these heads."""
    before, after = result.before, result.after
    shape, metric = result.about.shape, result.about.metric.lower()
    names = ", ".join(f"{layer}.{head}" for layer, head in result.heads)
    those = f" ({names}, by layer and head)" if 0 < len(result.heads) <= MOST_NAMES else ""
    if before is None or after is None:
        return prose(f"Measuring without {len(result.heads)} heads{those}." if result.heads else "Measuring.")
    if not result.heads:
        return prose(
            f"No head is gone: {metric} ",
            strong(metric_text(before.metric, result.about.metric)),
            f", {compact(before.parameters)} parameters.",
        )
    text = [metric_text(one.metric, result.about.metric) for one in (before, after)]
    shared = f" A head here serves all {shape.depth} depths, so it goes at each of them." if shape.shared else ""
    return prose(
        f"Without {len(result.heads)} of {shape.blocks * shape.heads} heads{those}: {metric} ",
        strong(text[1]), f" instead of {text[0]}, {compact(after.parameters)} parameters "
        f"instead of {compact(before.parameters)}, {_ms(after)} a batch of 16 instead of {_ms(before)}.{shared}",
    )  # fmt: skip


def _ms(measured: Measured) -> str:
    return "?" if measured.milliseconds is None else milliseconds(measured.milliseconds, ".1f")
