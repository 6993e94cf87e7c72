"""Runs side by side: the live curves, metric against what was trained, and the LoRA paper's own table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from markupsafe import Markup

from explorer.charts import Picture, axis, chart, level, note, points, series
from explorer.charts.words import caption, compact, duration, megabytes, percent, prose, quoted, strong
from explorer.labs.finetune.figures import runs_table
from explorer.runs.comparing import ALPHA, against, compare, every_pair, test_of, without_a_test
from explorer.runs.examples import OWNER
from explorer.runs.following import Compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import SHARES, metric_text, metric_title
from explorer.tables import Table
from explorer.tasks.baseline import Baseline


def compared_table(result: Compared) -> Table:
    """One row a run, and one for what counting words reaches, whose `trainable` are its own numbers."""
    table, counted = runs_table(result.records), result.baseline
    if counted is None or not result.records:
        return table
    first = result.records[0]
    known = {
        "run": "baseline",
        "name": counted.title,
        "model": "scikit-learn",
        "task": first.task_title,
        "method": "tfidf",
        "status": RunStatus.DONE.value,
        "metric": first.leading_metric,
        "score": counted.metrics[first.leading_metric],
        "trainable": counted.parameters,
        "seconds": round(counted.seconds, 2),
    }
    return Table.of(table.columns, [*table.rows, tuple(known.get(column) for column in table.columns)])


def compared_sentence(result: Compared) -> Markup:
    """How many are done, which leads, and what it trained."""
    ended = [record for record in result.records if not record.status.is_active]
    scored = [record for record in result.records if record.outcome is not None and record.score is not None]
    parts: list[str] = []
    if len(ended) < len(result.records):
        running = next((record for record in result.records if record.status is RunStatus.RUNNING), None)
        now = f"; now {running.name}, step {running.step} of {running.steps or '?'}" if running else ""
        parts.append(f"{len(ended)} of {len(result.records)} runs have ended{now}. ")
    if scored:
        best = max(scored, key=lambda record: record.score or 0.0)
        smallest = min(scored, key=lambda record: record.trainable)
        level = sum(record.score == best.score for record in scored)
        ahead = " leads with" if level == 1 else f" and {level - 1} more share the lead with"
        parts += [strong(best.name), f"{ahead} {metric_text(best.leading_metric, best.score)}"]
        parts.append(f", training {compact(best.trainable)} of {compact(best.parameters)} parameters.")
        if smallest is not best:
            said = metric_text(smallest.leading_metric, smallest.score)
            parts.append(f" {smallest.name} trains least ({compact(smallest.trainable)}) and reaches {said}.")
        if len(scored) > 1:
            parts.append(f" {_beyond_chance(scored, scored.index(best))}")
        if result.baseline is not None:
            parts += _beside_counting(best, result.baseline)
    return prose(*parts) if parts else prose("The runs are starting.")


def _beside_counting(best: RunRecord, counted: Baseline) -> list[str]:
    """What counting words reaches, and what the best run adds to it."""
    metric = best.leading_metric
    reached, score = counted.metrics[metric], best.score
    parts = [f" {counted.title}, which only counts words, reaches ", strong(metric_text(metric, reached))]
    parts.append(f" in {duration(counted.seconds)} with {counted.features:,} features")
    if reached is None or score is None:
        return [*parts, "."]
    gap = f"{100 * abs(score - reached):.1f} points" if metric in SHARES else f"{abs(score - reached):.3f}"
    name = best.name.split(" · ")[0]
    parts.append(f"; {name} is {gap} {'above' if score > reached else 'below'} it" if score != reached else "")
    p = against(best, counted.labels, counted.answers)
    if p is None:
        return [*parts, "."]
    said = "beyond chance" if p < ALPHA else "not beyond chance"
    return [*parts, f", {said} (p = {p:.2g}, {test_of(metric)} on the same {len(counted.labels):,} examples)."]


def _beyond_chance(records: Sequence[RunRecord], best: int) -> str:
    """Which runs the best one is better than, beyond chance; any pair might have come out on top, so all of them count."""
    verdict = compare(records, every_pair(records))
    if not verdict.p:
        return without_a_test(verdict)
    others = [place for place in range(len(records)) if place != best]
    p = {place: verdict.p[min(place, best), max(place, best)] for place in others}
    asked = f"{verdict.title} on the same {verdict.rows:,} examples"
    if len(others) == 1:
        said = "tells the two apart" if p[others[0]] < ALPHA else "does not tell the two apart"
        return f"{asked[0].upper()}{asked[1:]} {said} (p = {p[others[0]]:.2g})."
    beaten = [records[place].name.split(" · ")[0] for place in others if p[place] < ALPHA]
    count = {0: "none", len(others): "each"}.get(len(beaten), str(len(beaten)))
    named = f": {', '.join(beaten)}" if 0 < len(beaten) < len(others) else ""
    return (
        f"Beyond chance it is better than {count} of the {len(others)} others{named} ({asked}, 5% for all {len(verdict.p)} pairs "
        "together, Holm's allowance)."
    )


def trade_figure(result: Compared) -> Picture | str:
    """The leading metric against the trainable parameters, one point a run."""
    ended = [(place, record) for place, record in enumerate(result.records) if record.outcome]
    scored = [(place, record, record.score) for place, record in ended if record.score is not None]
    if not scored:
        return ""
    metric = scored[0][1].leading_metric
    counted = None if result.baseline is None else result.baseline.metrics[metric]
    scores = [score for _, _, score in scored]
    drawn = points(
        [max(1, record.trainable) for _, record, _ in scored],
        scores,
        [series(place) for place, _, _ in scored],
        size=14,
        texts=[record.name.split(" · ")[0] for _, record, _ in scored],
        textposition=_label_places([(record.trainable, score) for _, record, score in scored]),
        textfont={"size": 14},
        hover="%{text}: %{y:.3f} with %{x:,} trained parameters",
    )
    low, high = min([*scores, *([] if counted is None else [counted])]), max([*scores, counted or 0.0])
    spread = max(high - low, 0.05)
    span = (low - 0.2 * spread, high + 0.2 * spread)
    marks = []
    if result.baseline is not None and counted is not None:
        at_the_end = {"xref": "paper", "xanchor": "right", "yanchor": "bottom"}
        marks = [level(counted, "@muted"), note(result.baseline.title, 1, counted, **at_the_end)]
    across = axis("trainable parameters", log=True, dtick=1, exponentformat="SI")
    up = axis(metric_title(metric), span=span)
    return chart(compared_sentence(result), [drawn], across, up, marks, height=380, right=40)


def _label_places(points: Sequence[tuple[int, float]]) -> list[str]:
    """Where each point's label stands: on the first side on which it covers no other label and no point.

    Measured as shares of the figure: a label is about a fifth as wide as it and a twentieth as high.
    """
    across = [math.log10(max(1, trainable)) for trainable, _ in points]
    up = [score for _, score in points]
    wide, high = max(max(across) - min(across), 1.0), 1.4 * max(max(up) - min(up), 0.05)
    spots = [(x / wide, y / high) for x, y in zip(across, up, strict=True)]
    labels: list[tuple[float, float]] = []
    chosen = []
    for x, y in spots:
        covered = {
            side: _near((x + dx, y + dy), labels, 0.2, 0.05) + _near((x + dx, y + dy), spots, 0.1, 0.04)
            for side, (dx, dy) in _SIDES.items()
        }
        side = min(covered, key=covered.__getitem__)
        chosen.append(side)
        labels.append((x + _SIDES[side][0], y + _SIDES[side][1]))
    return chosen


def _near(spot: tuple[float, float], others: Sequence[tuple[float, float]], wide: float, high: float) -> int:
    return sum(abs(spot[0] - x) < wide and abs(spot[1] - y) < high for x, y in others)


_SIDES = {
    "top center": (0.0, 0.07),
    "bottom center": (0.0, -0.07),
    "middle right": (0.13, 0.0),
    "middle left": (-0.13, 0.0),
    "top right": (0.11, 0.06),
    "bottom right": (0.11, -0.06),
    "bottom left": (-0.11, -0.06),
}


def cost_table(result: Compared) -> Markup:
    """What each run cost: time, memory, checkpoint."""
    rows: list[Iterable[str]] = [
        (
            record.name.split(" · ")[0],
            "" if record.score is None else f"{record.score:.3f}",
            f"{record.trainable:,}" if record.trainable else "",
            percent(record.trainable / record.parameters) if record.parameters else "",
            duration(record.seconds) if record.seconds else "",
            megabytes(record.memory_estimate) if record.memory_estimate else "",
            megabytes(record.checkpoint_bytes) if record.checkpoint_bytes else "",
            record.status.value if not record.status.has_weights else "",
        )
        for record in result.records
    ]
    if result.baseline is not None and result.records:
        rows.append(_counted_row(result.baseline, result.records[0].leading_metric))
    rows += [Markup('<td>{}</td><td colspan="7">{}</td>').format(title, reason) for title, reason in result.missing]
    heads = ("method", "metric", "trainable", "share", "time", "memory (estimated)", "checkpoint", "status")
    return quoted(heads, rows)


def _counted_row(counted: Baseline, metric: str) -> tuple[str, ...]:
    """Counting words, in the cost table: nothing of it is pretrained, so its share is all."""
    score, features = counted.metrics[metric], f"{counted.features:,} features"
    score_cell = "" if score is None else f"{score:.3f}"
    return (counted.title, score_cell, f"{counted.parameters:,}", features, duration(counted.seconds), "", "", "")


def runs_list(result: Compared) -> Markup:
    """Every run with its settings and result; a link opens it."""
    if not result.records:
        return caption("No runs yet. Start one on the Train tab.")
    several = len({record.owner for record in result.records if record.owner != OWNER}) > 1
    rows = []
    for record in result.records:
        spec = record.spec
        rate = f"{spec.learning_rate:g}" if spec.learning_rate else "default"
        settings = f"{spec.model}, rate {rate}, {spec.epochs} epochs, batch {spec.batch_size}, seed {spec.seed}"
        cells = (
            Markup('<a href="?run={}">{}</a>').format(record.run_id, record.name),
            "worked example" if record.owner == OWNER else record.status.value,
            *([record.whose if record.owner != OWNER else ""] if several else []),
            "" if record.score is None else metric_text(record.leading_metric, record.score),
            f"{record.trainable:,}" if record.trainable else "",
            duration(record.seconds) if record.seconds else "",
            settings,
        )
        rows.append(cells)
    heads = ("run", "status", *(["whose"] if several else []), "held out", "trainable", "time", "settings")
    return quoted(heads, rows)
