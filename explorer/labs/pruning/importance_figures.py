"""Importance as a heatmap, a sorted curve, a histogram, a sentence and a table."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Look, Picture, axis, band, bars, chart, colorbar, error_bars, heat, line
from explorer.charts.words import caption, label, percent, prose, strong
from explorer.compress.cuts import Shape
from explorer.labs.pruning.schema import ImportanceResult
from explorer.maths.importance import SCORES
from explorer.runs.report import SHARES
from explorer.tables import Cell, Table
from explorer.tasks.metrics import METRICS

NAMES = {"head": "head", "neuron": "neuron", "both": "head or neuron", "layer": "layer", "weight": "weight"}
PLURALS = {"head": "heads", "neuron": "neurons", "both": "heads and neurons", "layer": "layers", "weight": "weights"}
ENOUGH = 0.9
"""From this rank correlation on we call two orders the same."""

MUCH_THE_SAME = 0.7
"""From this one on we call them much the same."""

LEAST_TO_GO_BY = 0.15
"""Below this correlation nothing is said about how many examples it would take."""

TINY = 1e-12
"""What a logarithm takes for 0."""

MOST_CELLS = 64
"""Neurons are drawn in so many groups a layer."""

MOST_POINTS = 600


def number(value: float) -> str:
    """Write three significant digits, in scientific notation if it is very small."""
    return f"{value:.3g}"


def metric_text(value: float | None, title: str) -> str:
    """Write the metric of this title: a share as a percentage, another with three decimals."""
    if value is None:
        return "not defined"
    return percent(value) if title in SHARED else f"{value:.3f}"


SHARED = {METRICS[name].title for name in SHARES if name in METRICS}
"""The titles of the metrics that are shares."""


def importance_table(result: ImportanceResult) -> Table:
    """layer, unit, importance, standard_error; a layer that serves every depth is called all, a whole layer's unit too."""
    rows: list[tuple[Cell, ...]] = []
    for block, (values, errors) in enumerate(zip(result.grid, result.errors, strict=True)):
        for place, (value, error) in enumerate(zip(values, errors, strict=True)):
            if result.unit == "layer":
                rows.append((place, "all", value, error))
                continue
            unit = result.columns[place] if result.columns else place
            rows.append(("all" if result.about.shape.shared else block, unit, value, error))
    return Table.of(("layer", "unit", "importance", "standard_error"), rows)


def page_table(result: ImportanceResult) -> Table:
    """Return the table without the many neurons of little importance: a browser takes some hundred rows."""
    return importance_table(result).largest(2, MOST_POINTS)


def _values(result: ImportanceResult) -> list[float]:
    return [value for row in result.grid for value in row]


def _units(result: ImportanceResult) -> str:
    """Name what is drawn, in the plural: of weights the matrices that they stand in."""
    return "matrices" if result.unit == "weight" else PLURALS[result.unit]


def _place(result: ImportanceResult, row: int, column: int) -> str:
    if result.unit == "layer":
        return f"layer {column}"
    where = "shared layer" if result.about.shape.shared else f"layer {row}"
    return f"{where}, {result.columns[column] if result.columns else f'{NAMES[result.unit]} {column}'}"


def importance_sentence(result: ImportanceResult) -> Markup:
    """Say what matters most and least."""
    cells = [(value, row, column) for row, values in enumerate(result.grid) for column, value in enumerate(values)]
    most, least = max(cells), min(cells)
    if result.unit == "weight":
        return prose(
            f"{result.about.name}: the weights of ", strong(_place(result, *most[1:])), " score highest on average, ",
            f"{number(most[0])}, those of {_place(result, *least[1:])} lowest, {number(least[0])}.",
        )  # fmt: skip
    so_far = "" if result.done else f", as far as {result.count} of {result.total} examples tell"
    if most[0] == least[0]:
        return prose(f"{result.about.name}: all {_units(result)} matter alike{so_far}.")
    high, low = (sum(cell[0] == end[0] for cell in cells) > 1 for end in (most, least))  # several may share an end
    matters = " and others matter most, " if high else " matters most, "
    others = " and others" if low else ""
    return prose(
        f"{result.about.name}: ", strong(_place(result, *most[1:])), matters,
        f"{_place(result, *least[1:])}{others} least{so_far}.",
    )  # fmt: skip


def importance_notes(result: ImportanceResult) -> Markup:
    """Say how much the top quarter holds, and whether the examples were enough; nothing of single weights."""
    if result.unit == "weight":
        return Markup("")
    half = sorted(_values(result), reverse=True)
    share = sum(half[: max(1, len(half) // 4)]) / (sum(half) or 1.0)  # nothing is a quarter of nothing
    held = f"The top quarter holds {100 * share:.0f}% of all importance. " if sum(half) else ""
    return caption(held, _enough(result), shared_note(result.about.shape))


def shared_note(shape: Shape) -> str:
    """Say what a part is if all depths share one layer; "" elsewhere."""
    if not shape.shared:
        return ""
    return f" One layer serves all {shape.depth} depths here: a head is one head, and pruning it takes it from each of them."


def asked_note(result: ImportanceResult) -> Markup:
    """State what L is in the formula, over how many examples the mean is taken, and how many suffice for the units'
    order.
    """
    score = SCORES[result.score]
    if not score.reads_examples:
        return prose(f"{result.score.capitalize()} asks nothing of the model and reads no example.")
    parts = [
        f"L: {result.about.asks}. E: the mean over {result.about.examples} training examples of {result.about.task}."
    ]
    if result.unit == "weight":
        parts.append(score.note or f"From {result.count} examples in batches of 16.")
    elif agreed := _firmest(result):
        count, correlation = agreed
        parts.append(
            f"{count} of the {result.count} examples and the other {result.count - count}: ρ = {correlation:.2f}."
        )
        needed = examples_needed(count, correlation) if correlation < ENOUGH else None
        if needed is not None:
            parts.append(f"About {needed:,} and as many others would reach {ENOUGH} (Spearman-Brown, see Why).")
    return prose(" ".join(parts))


def _firmest(result: ImportanceResult) -> tuple[int, float] | None:
    """Return (n, ρ) of the fewest examples that are enough, else of the most that were compared; None before any were."""
    if not result.done or not result.agreement:
        return None
    return next((pair for pair in result.agreement if pair[1] >= ENOUGH), result.agreement[-1])


def _enough(result: ImportanceResult) -> str:
    """Say whether other examples would give the same order."""
    if not result.done:
        return f"{result.count} of {result.total} examples read so far."
    agreed = _firmest(result)
    if agreed is None:
        return f"From {result.count} examples; take 32 or more to see whether that is enough."
    correlation = agreed[1]
    how = "nearly the same" if correlation >= ENOUGH else "much the same"
    if correlation < MUCH_THE_SAME:
        how = "rather different"
    return f"Measured on other examples, the order would be {how} (ρ = {correlation:.2f})."


def examples_needed(count: int, correlation: float) -> int | None:
    """Return how many examples would agree with as many others by ENOUGH, where `count` agree with `correlation`; two
    digits.

    Spearman and Brown (1910): k times as much evidence raises a reliability ρ to kρ / (1 + (k - 1) ρ). None if there is
    too little agreement to go by.
    """
    if correlation < LEAST_TO_GO_BY:
        return None
    # More digits would claim too much.
    return int(float(f"{count * ENOUGH * (1 - correlation) / (correlation * (1 - ENOUGH)):.2g}"))


def importance_figure(result: ImportanceResult) -> Picture:
    """Draw a heatmap, layers down; bars for whole layers."""
    said = importance_sentence(result)
    if result.unit == "layer":
        return _layer_bars(result, said)
    grid, names, what = _cells(result)
    log = result.unit == "neuron"  # a few neurons matter a thousand times more than most
    drawn = [[math.log10(max(value, TINY)) for value in row] for row in grid] if log else grid
    blocks = ["all"] if result.about.shape.shared else [str(block) for block in range(len(grid))]
    few, low = len(names) <= 24, min(map(min, drawn))
    hover = f"layer %{{y}}, {what} %{{x}}: %{{z:.3g}}{' ± %{customdata}' if few else ''}"
    look: Look = {"xgap": 2 if few else 0, "customdata": _errors(result) if few else None}
    key = colorbar("log₁₀ I" if log else "I", ".2g")
    # Logarithms begin at the least, importances at 0.
    cells = heat(names, blocks, drawn, MAGNITUDE, (low if log else min(0.0, low), None), bar=key, hover=hover, **look)
    across, down = axis(what, grid=False, type="category" if few else "linear"), axis("layer", names=True, down=True)
    tall, lower = min(520, 76 + 32 * len(grid)), min(420, 62 + 25 * len(grid))
    return chart(said, cells, across, down, height=max(220, tall), low=max(190, lower), above=12)


def _errors(result: ImportanceResult) -> list[list[str]]:
    return [["?" if error is None else number(error) for error in row] for row in result.errors]


def _cells(result: ImportanceResult) -> tuple[list[list[float]], list[Any], str]:
    """Return what is drawn: each head or matrix, or a layer's neurons from most to least important in groups."""
    if result.unit == "neuron" and len(result.grid[0]) > MOST_CELLS:
        width = len(result.grid[0])
        grid = []
        for row in result.grid:
            ranked = sorted(row, reverse=True)
            # Groups differ by one neuron at most.
            edges = [width * group // MOST_CELLS for group in range(MOST_CELLS + 1)]
            grid.append([sum(ranked[a:b]) / (b - a) for a, b in pairwise(edges)])
        middles = [100 * (group + 0.5) / MOST_CELLS for group in range(MOST_CELLS)]
        return grid, middles, "neurons of the layer, most important first (%)"
    across = list(result.columns) or [str(place) for place in range(len(result.grid[0]))]
    return [list(row) for row in result.grid], across, "matrix" if result.columns else NAMES[result.unit]


def _layer_bars(result: ImportanceResult, said: str) -> Picture:
    layers = [str(layer) for layer in range(len(result.grid[0]))]
    spread = error_bars(error or 0.0 for error in result.errors[0])
    hover = "layer %{x}: %{y:.3g} ± %{error_y.array:.2g}"
    drawn = bars(layers, result.grid[0], "@first", upright=True, error_y=spread, hover=hover)
    return chart(said, [drawn], axis("layer", names=True), axis("importance I"), height=320)


def sorted_figure(result: ImportanceResult) -> Picture:
    """Draw all units from most to least important, with two standard errors either side."""
    known = [error or 0.0 for row in result.errors for error in row]
    pairs = sorted(zip(_values(result), known, strict=True), reverse=True)
    stride = max(1, len(pairs) // MOST_POINTS)  # as many as the eye tells apart
    ranks = range(1, len(pairs) + 1)[::stride]
    pairs = pairs[::stride]
    log = result.unit == "neuron"
    floor = max(min(value for value, _ in pairs), TINY) / 10 if log else 0.0
    # A logarithmic axis ends above 0.
    upper, lower = [v + 2 * e for v, e in pairs], [max(v - 2 * e, min(v, floor)) for v, e in pairs]
    size = 0 if len(ranks) > 40 else 6
    traces = [
        band(ranks, lower, upper, "rgba(86,180,233,0.25)"),
        line(ranks, [value for value, _ in pairs], "@first", size=size, hover="rank %{x}: %{y:.3g}"),
    ]
    form: Look = {"log": True, "dtick": 2, "exponentformat": "power"} if log else {"tickformat": ".2g"}
    up = axis("I ± 2 std. errors" if any(error for _, error in pairs) else "I", **form)
    said = f"Importance of all {len(known)} {_units(result)}, sorted, with a band of two standard errors."
    return chart(said, traces, axis(f"rank of the {_units(result)}", grid=False), up, height=270, above=12)


def histogram_figure(result: ImportanceResult) -> Picture:
    """Draw how many units have which importance; bins are counted here, so that the table of neurons stays on the
    server.
    """
    log = result.unit == "neuron"
    values = [math.log10(max(value, TINY)) for value in _values(result)] if log else _values(result)
    low, high = min(values) if log else min(0.0, *values), max(values)
    bins = 30 if len(values) > 200 else 15
    step = (high - low) / bins or 1.0  # equal values are one bin
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / step))] += 1  # the highest is of the last bin
    middles, width = [low + (place + 0.5) * step for place in range(bins)], [step * 0.92] * bins
    drawn = bars(middles, counts, "@third", upright=True, width=width, hover="about %{x:.3g}: %{y}")
    across = axis("log₁₀ I" if log else "importance I", grid=False, tickformat=".2g")
    said = f"Histogram of the importance of {len(values)} {_units(result)}."
    return chart(said, [drawn], across, axis(label(_units(result))), height=270, above=12)
