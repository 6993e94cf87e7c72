"""Runs in words and figures: a metric, the state of a run, a bar of progress, its curves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import SERIES, Look, Panel, Picture, Trace, axis, level, line, picture, series
from explorer.charts.words import duration, fixed, label, percent, progress_bar, prose, strong
from explorer.maths.intervals import Spent, spread
from explorer.runs.record import RunRecord, RunStatus, without_task
from explorer.tables import Table
from explorer.tasks.metrics import LOSS, METRICS


def metric_title(name: str) -> str:
    """Return a metric's name as it stands inside a sentence."""
    title = METRICS[name].title if name in METRICS else name.replace("_", " ")
    return title.lower() if name == "accuracy" else title


_DIGITS = {"BLEU": 1, "NIST": 2, "METEOR": 1, "ROUGE-L": 1, "CIDEr": 2}
"""Decimals of the metrics of generated text, as the papers' tables print them."""

SHARES = ("accuracy", "exact_match")
"""Metrics that are given as percentages."""


def score_text(name: str, value: float | None) -> str:
    """Return a metric's value for a sentence: shares as percentages, correlations and F1 with three decimals."""
    if value is None:
        return "undefined"
    return percent(value) if name in SHARES else f"{value:.{_DIGITS.get(name, 3)}f}"


def gap_text(name: str, value: float) -> str:
    """Return a difference of two values of a metric; for shares in percentage points."""
    return f"{fixed(100 * value, 1)} points" if name in SHARES else fixed(value, _DIGITS.get(name, 3))


def metric_text(name: str, value: float | None) -> str:
    """Return a metric with its value."""
    return f"{metric_title(name)} {score_text(name, value)}"


def busy_said(plain: Spent) -> list[str]:
    """Return the sentence that nothing can be measured now, with the reason."""
    return [
        "The machine is busy: ",
        strong("nothing can be compared now"),
        f", since half of the plain model's own times lie {percent(spread(plain))} apart. Measure again when it is at rest.",
    ]


def under_way(record: RunRecord, speed: str = "") -> Markup:
    """Describe a run that waits or trains. speed: put after the step."""
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
    """Return one progress bar for all runs while any of them trains, else nothing."""
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
    """Return a line of a metric against the step; marks are open where only the first held-out rows were measured."""
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


# How runs learn, drawn: the loss and the held-out metric against the step.

SMOOTHING = 0.85
"""The share of the past in the smoothed loss: about the last seven steps."""


def smoothed(losses: Sequence[tuple[int, float]]) -> list[float]:
    """Return the losses' exponential moving average."""
    mean, values = 0.0, []
    for count, (_, loss) in enumerate(losses, start=1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        values.append(mean / (1 - SMOOTHING**count))  # corrected for its start from 0, as Adam's moments are
    return values


def curves_figure(records: Sequence[RunRecord], described: str = "", scale: str = "linear") -> Picture:
    """Draw the loss above and the held-out metric below, against the step; one colour for each run, with a legend for
    several.

    scale: of the loss, linear or log. If there is one run only, a dotted line marks the step that it has kept.
    """
    many = len(records) > 1
    losses: list[Trace] = []
    metrics: list[Trace] = []
    held_out: list[Trace] = []
    for place, record in enumerate(records):
        name, colour = _name(record, records), series(place)
        # Beyond the palette colours repeat, and dots tell the runs apart.
        look: Look = {"dash": "" if place < len(SERIES) else "dot", "legendgroup": record.run_id}
        losses += _losses(record, colour, name, many, look)
        held_out += _held_out(record, colour, name, look)
        metrics.append(metric_line(record, record.leading_metric, colour, name, aside=name, **look))
    last = max((record.steps or record.step for record in records), default=1)
    part = next(
        (record.between for record in records if not all(p.whole for p in record.measured(record.leading_metric))), 0
    )
    title = f"training step (○: {part} held-out rows)" if part else "training step"
    across, log = axis(title, span=(0, max(1, last) * 1.02)), scale == "log"
    up = axis("loss, dashed: held out" if held_out else "training loss", log=log, zero=not log)
    kept = [] if many or not records or not records[0].kept else [level(records[0].kept, dash="dot", upright=True)]
    metric = metric_title(records[0].leading_metric) if records else "metric"
    panels = [
        Panel([*losses, *held_out], across, up, marks=kept),
        Panel(metrics, None, axis(metric, span=_metric_range(records)), marks=kept),
    ]
    said = described or f"Loss and held-out metric of {', '.join(record.name for record in records) or 'no run'}."
    height = 480 if many else 400
    # uirevision: a visitor's zoom survives the redraws while runs train.
    return picture(said, panels, columns=1, height=height, above=12, legend=many, legend_size=14, uirevision="curves")


def _held_out(record: RunRecord, colour: str, name: str, look: Look) -> list[Trace]:
    """Draw the held-out loss if it is measured: where it rises while the training loss falls, the model overfits."""
    points = [point for point in record.measured(LOSS) if point.value is not None]
    if not points:
        return []
    faint: Look = {
        **look,
        "dash": "dash",
        "showlegend": False,
        "marker": {"symbol": "diamond", "color": colour},
        "size": 7,
    }
    hover = "step %{x}: held-out loss %{y:.3f}"
    return [line([p.step for p in points], [p.value for p in points], colour, name, hover=hover, aside="", **faint)]


def _metric_range(records: Sequence[RunRecord]) -> list[float]:
    """Return the metric's axis: from 0 to 1, and further if a correlation is negative or a score above 1.

    Several runs that have ended, all above one half, are told apart better from there on.
    """
    found = [point.value for record in records for point in record.measured(record.leading_metric)]
    values = [value for value in found if value is not None]
    ended = len(records) > 1 and not any(record.status.is_active for record in records)
    if ended and values and min(values) >= 0.5 and max(values) <= 1:
        return [0.5, 1.015]
    return [  # fixed at 0 and 1: the axis must not jump while a run trains
        min([0.0, *(1.1 * value for value in values)]),
        max([1.03, *(1.1 * value for value in values if value > 1)]),
    ]


def _name(record: RunRecord, records: Sequence[RunRecord]) -> str:
    """Return a run's name in a legend: without the task if all share it, and with its seed or its id where it takes these
    to tell two runs apart.
    """
    one_task = len({other.task_title for other in records}) == 1
    for named in (without_task, _with_its_seed, str) if one_task else (str,):
        name = named(record.name)
        if sum(named(other.name) == name for other in records) == 1:
            return label(name)
    return label(f"{name} · {record.run_id[:5]}")


def _with_its_seed(name: str) -> str:
    """Return a run's name without its task, and with what follows that."""
    method, *rest = name.split(" · ")
    return " · ".join([method, *rest[1:]])


def _losses(record: RunRecord, colour: str, name: str, many: bool, look: Look) -> list[Trace]:
    """Draw the smoothed loss; behind it, if there is one run only, the loss of each step."""
    steps, losses = [step for step, _ in record.losses], [loss for _, loss in record.losses]
    hover = "step %{x}: smoothed loss %{y:.3f}"
    smooth = line(steps, smoothed(record.losses), colour, name, hover=hover, aside=name, **look)
    if many:
        return [smooth]
    faint: Look = {**look, "width": 1, "opacity": 0.3, "showlegend": False}
    return [line(steps, losses, colour, name, hover="step %{x}: loss %{y:.3f}", **faint), smooth]
