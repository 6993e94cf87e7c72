"""Runs as pages tell and draw them: a metric in words, how a run stands, a bar of progress, the curve of a metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import Trace, line
from explorer.charts.words import duration, percent, progress_bar, prose, strong
from explorer.models.spent import BUSY, Spent, spread
from explorer.runs.record import RunRecord, RunStatus
from explorer.tables import Table
from explorer.tasks.metrics import METRICS


def metric_title(name: str) -> str:
    """A metric's name inside a sentence."""
    title = METRICS[name].title if name in METRICS else name.replace("_", " ")
    return title.lower() if name == "accuracy" else title


_DIGITS = {"BLEU": 1, "NIST": 2, "METEOR": 1, "ROUGE-L": 1, "CIDEr": 2}
"""As the papers' tables print them."""

SHARES = ("accuracy", "exact_match")
"""Told as percentages."""


def score_text(name: str, value: float | None) -> str:
    """A metric's value as a sentence gives it: shares as percentages, correlations and F1 with three digits."""
    if value is None:
        return "undefined"
    return percent(value) if name in SHARES else f"{value:.{_DIGITS.get(name, 3)}f}"


def gap_text(name: str, value: float) -> str:
    """A difference of two values of a metric: of shares in percentage points."""
    return f"{100 * value:.1f} points" if name in SHARES else f"{value:.{_DIGITS.get(name, 3)}f}"


def metric_text(name: str, value: float | None) -> str:
    """A metric with its value."""
    return f"{metric_title(name)} {score_text(name, value)}"


def busy(plain: Spent) -> bool:
    """Whether the times of one and the same model lie too far apart for anything to be compared with them."""
    return spread(plain) > BUSY


def busy_said(plain: Spent) -> list[str]:
    """That nothing can be measured now, with the reason."""
    return [
        "The machine is busy: ",
        strong("nothing can be compared now"),
        f", since half of the plain model's own times lie {percent(spread(plain))} apart. Measure again when it is at rest.",
    ]


def under_way(record: RunRecord, speed: str = "") -> Markup:
    """How a run stands that waits or trains; speed: said behind the step."""
    name, count = strong(record.name), record.place
    if record.status is RunStatus.QUEUED:
        ahead = f"{count} run{'s' if count != 1 else ''} ahead of this one" if count else "it is next"
        begins = f", about {duration(record.seconds_left)} until it begins" if record.seconds_left else ""
        return prose(name, f" waits for its turn: {ahead}{begins}.")
    if not record.step:
        return prose(name, f": {record.message or 'starting'}.")
    left = f", about {duration(record.seconds_left)} left" if record.seconds_left else ""
    said = f" {record.message.rstrip('.')}." if record.message else ""
    return prose(name, f": step {record.step} of {record.steps}{speed}{left}.", _latest(record), said)


def _latest(record: RunRecord) -> str:
    measured = record.measured(record.leading_metric)
    if not measured:
        return ""
    where = "" if measured[-1].whole else f" on the first {record.between} rows"
    return f" Held-out {metric_text(record.leading_metric, measured[-1].value)}{where}."


def progress(records: Sequence[RunRecord]) -> Markup:
    """One bar for all runs while any of them trains; nothing else moves."""
    if not any(record.status.is_active for record in records):
        return Markup("")
    done = [
        (record.step / record.steps if record.steps else 0.0) if record.status.is_active else 1.0 for record in records
    ]
    return progress_bar(sum(done) / len(done), "training progress")


def run_table(record: RunRecord) -> Table:
    """step, loss, metric: the leading metric at the steps where it was measured."""
    measured = {point.step: point.value for point in record.measured(record.leading_metric)}
    losses = dict(record.losses)
    steps = sorted(set(losses) | set(measured))
    return Table.of(("step", "loss", "metric"), [(step, losses.get(step), measured.get(step)) for step in steps])


def metric_line(
    record: RunRecord, metric: str, colour: str, name: str, symbol: str = "circle", aside: str = "", **look: Any
) -> Trace:
    """A metric against the step; open marks where only the first held-out rows were measured."""
    measured = record.measured(metric)
    symbols = [symbol if point.whole else f"{symbol}-open" for point in measured]
    return line(
        [point.step for point in measured],
        [point.value for point in measured],
        colour,
        name,
        size=8,
        marker={"color": colour, "symbol": symbols},
        customdata=[record.rows_at(point) for point in measured],
        hover="step %{x}: %{y:.3f} on %{customdata}",
        aside=aside,
        **look,
    )
