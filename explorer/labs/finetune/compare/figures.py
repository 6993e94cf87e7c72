"""Runs side by side: the live curves, metric against what was trained, and the LoRA paper's own table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from markupsafe import Markup

from explorer.charts import Look, Picture, Trace, axis, chart, error_bars, level, note, points, series
from explorer.charts.words import caption, compact, duration, megabytes, percent, prose, quoted, strong
from explorer.labs.finetune.figures import runs_table
from explorer.maths.seeds import paired_interval
from explorer.runs.comparing import ALPHA, against, compare, every_pair, test_of, without_a_test
from explorer.runs.examples import OWNER
from explorer.runs.following import Compared
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import gap_text, metric_text, metric_title
from explorer.runs.seeds import Repeated, ahead, by_setting, lead_parts, several_seeds
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
    if scored and several_seeds(result.records):
        parts += _over_seeds(result)
    elif scored:
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


def _over_seeds(result: Compared) -> list[str]:
    """The same of every method's mean, and whether differences seed by seed are more than chance."""
    settings = [runs for runs in by_setting(result.records) if runs.scores]
    metric, best = settings[0].first.leading_metric, max(settings, key=lambda runs: runs.mean)
    smallest = min(settings, key=lambda runs: runs.trainable)
    parts = lead_parts(settings)
    if smallest is not best:
        reached = metric_text(metric, smallest.mean)
        parts.append(f" {smallest.name} trains least ({compact(smallest.trainable)}) and reaches {reached}.")
    counted = result.baseline
    if counted is not None:
        level = counted.metrics[metric]
        told = "" if level is None else ahead(metric, best.scores, dict.fromkeys(best.scores, level), "it")
        parts += [*_counting(counted, metric), f"; {best.name} is {told}." if told else "."]
    return parts


def _counting(counted: Baseline, metric: str) -> list[str]:
    """What counting words reaches."""
    parts = [
        f" {counted.title}, which only counts words, reaches ",
        strong(metric_text(metric, counted.metrics[metric])),
    ]
    return [*parts, f" in {duration(counted.seconds)} with {counted.features:,} features"]


def _beside_counting(best: RunRecord, counted: Baseline) -> list[str]:
    """What counting words reaches, and what the best run adds to it."""
    metric = best.leading_metric
    reached, score = counted.metrics[metric], best.score
    parts = _counting(counted, metric)
    if reached is None or score is None:
        return [*parts, "."]
    gap = gap_text(metric, abs(score - reached))
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
    """The leading metric against the trainable parameters, one point a method: over several seeds their mean."""
    scored = [(place, runs) for place, runs in enumerate(by_setting(result.records)) if runs.scores]
    if not scored:
        return ""
    metric, several = scored[0][1].first.leading_metric, several_seeds(result.records)
    counted = None if result.baseline is None else result.baseline.metrics[metric]
    means, colours = [runs.mean for _, runs in scored], [series(place) for place, _ in scored]
    ends = [value for _, runs in scored for value in _reach(runs)] + ([] if counted is None else [counted])
    spread = max(max([*ends, 0.0]) - min(ends), 0.05)
    span = (min(ends) - 0.2 * spread, max([*ends, 0.0]) + 0.2 * spread)
    reach: Look = {"error_y": error_bars([runs.spread for _, runs in scored], thickness=2, width=8)} if several else {}
    drawn = points(
        [max(1, runs.trainable) for _, runs in scored],
        means,
        colours,
        size=14,
        texts=[runs.name for _, runs in scored],
        textposition=_label_places([(runs.trainable, runs.mean) for _, runs in scored], beside=several),
        textfont={"size": 14},
        hover="%{text}: %{y:.3f} with %{x:,} trained parameters",
        **reach,
    )
    marks = []
    if result.baseline is not None and counted is not None:
        at_the_end = {"xref": "paper", "xanchor": "right", "yanchor": "bottom"}
        marks = [level(counted, "@muted"), note(result.baseline.title, 1, counted, **at_the_end)]
    across = axis("trainable parameters", log=True, dtick=1, exponentformat="SI")
    up = axis(f"{metric_title(metric)}: ○ seeds, ● mean ± s.d." if several else metric_title(metric), span=span)
    each = [_seeds(runs, colour) for (_, runs), colour in zip(scored, colours, strict=True)] if several else []
    return chart(compared_sentence(result), [drawn, *each], across, up, marks, height=380, right=40)


def _reach(runs: Repeated) -> list[float]:
    """All that is drawn of them, up and down."""
    return [*runs.scores.values(), runs.mean - runs.spread, runs.mean + runs.spread]


def _seeds(runs: Repeated, colour: str) -> Trace:
    """Every seed's score, as an open mark at what it trained."""
    across = [max(1, runs.trainable)] * len(runs.scores)
    seeds, hover = list(runs.scores), f"{runs.name}, seed %{{customdata}}: %{{y:.3f}}"
    look: Look = {"size": 8, "symbol": "circle-open", "customdata": seeds, "showlegend": False}
    return points(across, runs.scores.values(), colour, hover=hover, **look)


def _label_places(points: Sequence[tuple[int, float]], beside: bool) -> list[str]:
    """Where each point's label stands: on the first side on which it covers no other label and no point.

    beside: not above or below it, where the point's spread is drawn.
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
            if dx or not beside
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
    """What each method cost: time, memory, checkpoint; over several seeds, of one run."""
    rows: list[Iterable[str]] = [_cost_row(runs) for runs in by_setting(result.records)]
    if result.baseline is not None and result.records:
        rows.append(_counted_row(result.baseline, result.records[0].leading_metric))
    rows += [Markup('<td>{}</td><td colspan="7">{}</td>').format(title, reason) for title, reason in result.missing]
    several = several_seeds(result.records)
    metric, time = ("metric (mean ± 95% interval)", "time a run") if several else ("metric", "time")
    heads = ("method", metric, "trainable", "share", time, "memory (estimated)", "checkpoint", "status")
    return quoted(heads, rows)


def _cost_row(runs: Repeated) -> Iterable[str]:
    first, seconds = runs.first, [record.seconds for record in runs.records if record.seconds]
    return (
        runs.name,
        _score_cell(runs),
        f"{runs.trainable:,}" if runs.trainable else "",
        percent(runs.trainable / first.parameters) if first.parameters else "",
        duration(fmean(seconds)) if seconds else "",
        megabytes(first.memory_estimate) if first.memory_estimate else "",
        megabytes(first.checkpoint_bytes) if first.checkpoint_bytes else "",
        _status_cell(runs),
    )


def _score_cell(runs: Repeated) -> str:
    """A mean with half the width of its interval; of a run alone its latest score."""
    if len(runs.records) == 1:
        return "" if runs.first.score is None else f"{runs.first.score:.3f}"
    scores = list(runs.scores.values())
    if len(scores) < 2:
        return f"{scores[0]:.3f}" if scores else ""
    found = paired_interval(scores, [0.0] * len(scores))
    return f"{found.mean:.3f} ± {found.high - found.mean:.3f}"


def _status_cell(runs: Repeated) -> str:
    """What has become of those that have no weights."""
    others = Counter(record.status.value for record in runs.records if not record.status.has_weights)
    if len(runs.records) == 1:
        return next(iter(others), "")
    return ", ".join(f"{count} {status}" for status, count in others.items())


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
            Markup('<a href="finetune?run={}">{}</a>').format(record.run_id, record.name),
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
