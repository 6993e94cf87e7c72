"""The metric against LoRA's rank, as a picture, a sentence and tables, beside the paper's Table 6."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import compact, label, picture, prose, strong
from explorer.labs.delta.figures import number
from explorer.labs.delta.schema import RankSweepResult
from explorer.tables import Table

PAPER_RANKS = (1, 2, 4, 8, 64)
PAPER_ROWS = (
    ("WikiSQL", "W_q", (68.8, 69.6, 70.5, 70.4, 70.0)),
    ("WikiSQL", "W_q, W_v", (73.4, 73.3, 73.7, 73.8, 73.5)),
    ("WikiSQL", "W_q, W_k, W_v, W_o", (74.1, 73.7, 74.0, 74.0, 73.9)),
    ("MultiNLI", "W_q", (90.7, 90.9, 91.1, 90.7, 90.7)),
    ("MultiNLI", "W_q, W_v", (91.3, 91.4, 91.3, 91.6, 91.4)),
    ("MultiNLI", "W_q, W_k, W_v, W_o", (91.2, 91.7, 91.7, 91.5, 91.4)),
)
"""Validation accuracy of GPT-3 by rank (Hu et al. 2021, Table 6); within 0.5 on WikiSQL and 0.1 on MultiNLI, as they say."""


def sweep_table(result: RankSweepResult) -> Table:
    """rank, metric, trainable."""
    points = sorted(result.points, key=lambda point: point.rank)
    return Table.of(("rank", "metric", "trainable"), [(point.rank, point.metric, point.trainable) for point in points])


def paper_table() -> Table:
    """task, weights, then one column a rank."""
    columns = ("task", "weights", *(f"r={rank}" for rank in PAPER_RANKS))
    return Table.of(columns, [(task, weights, *scores) for task, weights, scores in PAPER_ROWS])


def paper_quote() -> Markup:
    """Table 6 as HTML."""
    table = paper_table()
    cell = Markup("<{0}>{1}</{0}>").format
    head = Markup("").join(cell("th", column) for column in table.columns)
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(cell("td", value) for value in row)) for row in table.rows
    )
    return Markup(
        '<table class="quoted"><caption>GPT-3 175B, validation accuracy, quoted from Hu et al. 2021, Table 6</caption>'
        "<thead><tr>{}</tr></thead><tbody>{}</tbody></table>"
    ).format(head, rows)


def sweep_sentence(result: RankSweepResult) -> Markup:
    """Which rank does best, what the smallest reaches with how many parameters, and how far apart they all are."""
    scored = sorted((point.rank, point.metric, point.trainable) for point in result.points if point.metric is not None)
    if not scored:
        return prose("No run of the sweep has a metric yet.")
    best = max(scored, key=lambda point: point[1])
    least = scored[0]
    parts = [f"{result.task}: the best {result.metric} is ", strong(f"{best[1]:.3f} at r = {best[0]}")]
    if len(scored) > 1:
        share = scored[-1][2] / least[2]
        parts += [f"; r = {least[0]} reaches ", strong(f"{least[1]:.3f}")]
        parts.append(f" with {number(share)} times fewer trained parameters than r = {scored[-1][0]}. ")
        parts.append(f"All lie within {best[1] - min(point[1] for point in scored):.3f}")
    parts.append(". One seed: differences of this size may be chance; repeat with another seed before believing them.")
    return prose(*parts)


def sweep_figure(result: RankSweepResult) -> dict[str, Any]:
    """Metric over rank, evenly spaced; below each rank how many parameters it trained."""
    points = sorted((point for point in result.points if point.metric is not None), key=lambda point: point.rank)
    names = [f"{point.rank}<br>{compact(point.trainable)}" for point in points]
    trace = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": names,
        "y": [point.metric for point in points],
        "cliponaxis": False,
        "line": {"color": "@accent", "width": 3},
        "marker": {"size": 13},
        "hovertemplate": "r = %{x}: %{y:.4f}<extra></extra>",
    }
    shapes, notes = [], []
    if result.unadapted is not None:
        line = {"color": "@muted", "width": 2, "dash": "dash"}
        level = {"y0": result.unadapted, "y1": result.unadapted}
        shapes = [{"type": "line", "xref": "paper", "x0": 0, "x1": 1, **level, "line": line}]
        place = {"xref": "paper", "x": 1, "xanchor": "right", "y": result.unadapted, "yanchor": "bottom"}
        notes = [{"text": f"head alone {result.unadapted:.3f}", **place, "showarrow": False}]
    return picture(
        [trace],
        sweep_sentence(result).striptags(),
        height=380,
        shapes=shapes,
        annotations=notes,
        margin={"l": 8, "r": 24, "t": 40, "b": 8},
        xaxis={"type": "category", "title": {"text": "rank r, and trained parameters"}, "showgrid": False},
        yaxis={"title": {"text": label(result.metric)}},
    )
