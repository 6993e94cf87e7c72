"""Runs side by side: the live curves, metric against what was trained, and the LoRA paper's own table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import fmean

from markupsafe import Markup

from explorer.charts import Look, Picture, Trace, axis, chart, error_bars, level, note, points, series
from explorer.charts.words import caption, duration, megabytes, percent, quoted
from explorer.labs.finetune.compare_said_figures import compared_notes, compared_sentence
from explorer.labs.finetune.figures import runs_table
from explorer.maths.intervals import paired_interval
from explorer.runs.comparing import Compared
from explorer.runs.examples import OWNER
from explorer.runs.record import RunStatus
from explorer.runs.report import metric_text, metric_title
from explorer.runs.seeds import Repeated, by_setting, several_seeds
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


def trade_figure(result: Compared) -> Picture | str:
    """Draw the leading metric against the trainable parameters, one point a method: over several seeds their mean."""
    scored = [(place, runs) for place, runs in enumerate(by_setting(result.records)) if runs.scores]
    if not scored:
        return ""
    metric, several = scored[0][1].first.leading_metric, several_seeds(result.records)
    counted = None if result.baseline is None else result.baseline.metrics[metric]
    means, colours = [runs.mean for _, runs in scored], [series(place) for place, _ in scored]
    ends = [value for _, runs in scored for value in _reach(runs)] + ([] if counted is None else [counted])
    # Not below 0.05: differences of a few examples would fill the figure.
    spread = max(max([*ends, 0.0]) - min(ends), 0.05)
    span = (min(ends) - 0.2 * spread, max([*ends, 0.0]) + 0.2 * spread)
    reach: Look = {"error_y": error_bars([runs.spread for _, runs in scored], thickness=2, width=8)} if several else {}
    drawn = points(
        [max(1, runs.trainable) for _, runs in scored],  # a logarithmic axis has no 0
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
    """Return all that is drawn of the runs, up and down."""
    return [*runs.scores.values(), runs.mean - runs.spread, runs.mean + runs.spread]


def _seeds(runs: Repeated, colour: str) -> Trace:
    """Draw every seed's score, as an open mark at what it trained."""
    across = [max(1, runs.trainable)] * len(runs.scores)
    seeds, hover = list(runs.scores), f"{runs.name}, seed %{{customdata}}: %{{y:.3f}}"
    look: Look = {"size": 8, "symbol": "circle-open", "customdata": seeds, "showlegend": False}
    return points(across, runs.scores.values(), colour, hover=hover, **look)


def _label_places(points: Sequence[tuple[int, float]], beside: bool) -> list[str]:
    """Return where each point's label stands: on the side on which it covers fewest labels and points, the first of
    equals.

    beside: not above or below it, where the point's spread is drawn. Measured as shares of the figure: a label is about
    a fifth as wide as it and a twentieth as high.
    """
    # As drawn: across by powers of ten, up with the margins of the axis.
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
    """Tabulate what each method cost: time, memory, checkpoint; over several seeds, of one run.

    Below it stands what the headline rests on.
    """
    rows: list[Iterable[str]] = [_cost_row(runs) for runs in by_setting(result.records)]
    if result.baseline is not None and result.records:
        rows.append(_counted_row(result.baseline, result.records[0].leading_metric))
    rows += [Markup('<td>{}</td><td colspan="7">{}</td>').format(title, reason) for title, reason in result.missing]
    several = several_seeds(result.records)
    metric, time = ("metric (mean ± 95% interval)", "time a run") if several else ("metric", "time")
    heads = ("method", metric, "trainable", "share", time, "memory (estimated)", "checkpoint", "status")
    return quoted(heads, rows) + compared_notes(result)


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
    """Write a mean with half the width of its interval; of a run alone its latest score."""
    if len(runs.records) == 1:
        return "" if runs.first.score is None else f"{runs.first.score:.3f}"
    scores = list(runs.scores.values())
    if len(scores) < 2:
        return f"{scores[0]:.3f}" if scores else ""
    found = paired_interval(scores, [0.0] * len(scores))  # the interval of a mean is that of differences from 0
    return f"{found.mean:.3f} ± {found.high - found.mean:.3f}"


def _status_cell(runs: Repeated) -> str:
    """Say what has become of those runs that have no weights."""
    others = Counter(record.status.value for record in runs.records if not record.status.has_weights)
    if len(runs.records) == 1:
        return next(iter(others), "")
    return ", ".join(f"{count} {status}" for status, count in others.items())


def _counted_row(counted: Baseline, metric: str) -> tuple[str, ...]:
    """Write counting words as a row of the cost table: nothing of it is pretrained, so its share is all."""
    score, features = counted.metrics[metric], f"{counted.features:,} features"
    score_cell = "" if score is None else f"{score:.3f}"
    return (counted.title, score_cell, f"{counted.parameters:,}", features, duration(counted.seconds), "", "", "")


def runs_list(result: Compared) -> Markup:
    """List every run with its settings and result; a link opens it."""
    if not result.records:
        return caption("No runs yet. Start one on the Train tab.")
    # The lecturer sees everybody's.
    several = len({record.owner for record in result.records if record.owner != OWNER}) > 1
    rows = []
    for record in result.records:
        spec = record.spec
        rate = f"{spec.learning_rate:g}" if spec.learning_rate else "the method's own"
        settings = (
            f"{spec.model}, learning rate: {rate}, {spec.epochs} epochs, batch {spec.batch_size}, seed {spec.seed}"
        )
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
