"""The metric against LoRA's rank, as a picture, a sentence and tables."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Picture, axis, chart, level, line, note
from explorer.charts.words import compact, label, number, prose, strong
from explorer.labs.delta.schema import RankSweepResult
from explorer.tables import Table


def sweep_table(result: RankSweepResult) -> Table:
    """rank, metric, trainable."""
    points = sorted(result.points, key=lambda point: point.rank)
    return Table.of(("rank", "metric", "trainable"), [(point.rank, point.metric, point.trainable) for point in points])


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
    parts.append(
        ". One seed, and as many epochs for a low rank as for a high one: train longer and with other seeds before believing "
        "a difference."
    )
    return prose(*parts)


def sweep_figure(result: RankSweepResult) -> Picture:
    """Metric over rank, evenly spaced; below each rank how many parameters it trained."""
    points = sorted((point for point in result.points if point.metric is not None), key=lambda point: point.rank)
    names = [f"{point.rank}<br>{compact(point.trainable)}" for point in points]
    scores = [point.metric for point in points]
    marks = []
    if result.unadapted is not None:
        at_the_end = {"xref": "paper", "xanchor": "right", "yanchor": "bottom"}
        text = f"head alone {result.unadapted:.3f}"
        marks = [level(result.unadapted, "@muted"), note(text, 1, result.unadapted, **at_the_end)]
    trace = line(names, scores, "@accent", size=13, cliponaxis=False, hover="r = %{x}: %{y:.4f}")
    across, up = axis("rank r, and trained parameters", names=True), axis(label(result.metric))
    return chart(sweep_sentence(result), [trace], across, up, marks, height=380)
