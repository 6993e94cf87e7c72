"""The metric against LoRA's rank, as a picture, a sentence and tables."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts import Picture, axis, chart, line
from explorer.charts.words import caption, compact, label, number, prose, strong
from explorer.labs.delta.schema import RankSweepResult
from explorer.tables import Table


def sweep_table(result: RankSweepResult) -> Table:
    """rank, metric, trainable."""
    points = sorted(result.points, key=lambda point: point.rank)
    return Table.each(points, "rank metric trainable")


def sweep_sentence(result: RankSweepResult) -> Markup:
    """Say which rank does best, or that all do alike."""
    scored = _scored(result)
    if not scored:
        return prose("No run of the sweep has a metric yet.")
    (rank, best, _), worst = max(scored, key=lambda point: point[1]), min(point[1] for point in scored)
    if len(scored) > 1 and best == worst:
        return prose(f"{result.task}: every rank reaches the same {result.metric}, ", strong(f"{best:.3f}"), ".")
    # Of equal ones `max` finds the lowest rank.
    already = " already" if sum(point[1] == best for point in scored) > 1 else ""
    return prose(f"{result.task}: the best {result.metric} is ", strong(f"{best:.3f} at r = {rank}"), f"{already}.")


def _scored(result: RankSweepResult) -> list[tuple[int, float, int]]:
    """Return rank, metric and trained parameters of each run that has a metric, by rank."""
    return sorted((point.rank, point.metric, point.trainable) for point in result.points if point.metric is not None)


def sweep_notes(result: RankSweepResult) -> Markup:
    """Say what the smallest rank reaches with how many parameters, how far apart all are, and what one seed cannot say."""
    scored = _scored(result)
    if not scored:
        return Markup("")
    parts, least = [], scored[0]
    if len(scored) > 1:
        metrics = [metric for _, metric, _ in scored]
        times = f"{number(scored[-1][2] / least[2])} times fewer trained parameters than r = {scored[-1][0]}"
        parts.append(f"r = {least[0]} reaches {least[1]:.3f} with {times}. ")
        parts.append(f"All lie within {max(metrics) - min(metrics):.3f}. ")
    parts.append(
        "One seed, and as many epochs for a low rank as for a high one: train longer and with other seeds before believing "
        "a difference."
    )
    return caption(*parts)


def sweep_figure(result: RankSweepResult) -> Picture:
    """Draw the metric over rank, evenly spaced, with how many parameters each trained."""
    points = sorted((point for point in result.points if point.metric is not None), key=lambda point: point.rank)
    names = [f"{point.rank}<br>{compact(point.trainable)}" for point in points]
    scores = [point.metric for point in points]
    trace = line(names, scores, "@accent", size=13, cliponaxis=False, hover="r = %{x}: %{y:.4f}")
    across, up = axis("rank r, and trained parameters", names=True), axis(label(result.metric))
    return chart(sweep_sentence(result), [trace], across, up, height=380)
