"""How runs learn, drawn: the loss and the held-out metric against the step."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.charts import SERIES, Look, Panel, Picture, Trace, axis, level, line, picture, series
from explorer.charts.words import label
from explorer.runs.record import RunRecord
from explorer.runs.report import metric_line, metric_title
from explorer.tasks.metrics import LOSS

SMOOTHING = 0.85
"""Share of the past in the smoothed loss: about the last seven steps."""


def smoothed(losses: Sequence[tuple[int, float]]) -> list[float]:
    """The losses' exponential mean, corrected for its start as Adam's moments are."""
    mean, values = 0.0, []
    for count, (_, loss) in enumerate(losses, start=1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        values.append(mean / (1 - SMOOTHING**count))
    return values


def curves_figure(records: Sequence[RunRecord], described: str = "", scale: str = "linear") -> Picture:
    """Loss above, the held-out metric below, against the step; one colour a run, with a legend where there are several.

    scale: of the loss, linear or log. A dotted line stands at the step that a run alone has kept.
    """
    many = len(records) > 1
    losses: list[Trace] = []
    metrics: list[Trace] = []
    held_out: list[Trace] = []
    for place, record in enumerate(records):
        name, colour = _name(record, records), series(place)
        look: Look = {"dash": "" if place < len(SERIES) else "dot", "legendgroup": record.run_id}
        losses += _losses(record, colour, name, many, look)
        held_out += _held_out(record, colour, name, look)
        metrics.append(metric_line(record, record.leading_metric, colour, name, aside=name, **look))
    last = max((record.steps or record.step for record in records), default=1)
    part = next(
        (record.between for record in records if not all(p.whole for p in record.measured(record.leading_metric))), 0
    )
    title = f"training step (○: first {part} held-out rows)" if part else "training step"
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
    return picture(said, panels, columns=1, height=height, above=12, legend=many, legend_size=14, uirevision="curves")


def _held_out(record: RunRecord, colour: str, name: str, look: Look) -> list[Trace]:
    """The held-out loss where it is measured: where it rises while the training loss falls, examples are learned by heart."""
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
    """From 0 to 1, and further down where a correlation has been negative; a fixed axis does not jump while it trains.

    Several runs that have ended, all above one half, are told apart better from there on.
    """
    found = [point.value for record in records for point in record.measured(record.leading_metric)]
    values = [value for value in found if value is not None]
    ended = len(records) > 1 and not any(record.status.is_active for record in records)
    if ended and values and min(values) >= 0.5 and max(values) <= 1:
        return [0.5, 1.015]
    return [
        min([0.0, *(1.1 * value for value in values)]),
        max([1.03, *(1.1 * value for value in values if value > 1)]),
    ]


def _name(record: RunRecord, records: Sequence[RunRecord]) -> str:
    """A run's name in a legend, without the task that all share."""
    alone = len({other.task_title for other in records}) > 1
    return label(record.name if alone else record.name.split(" · ")[0])


def _losses(record: RunRecord, colour: str, name: str, many: bool, look: Look) -> list[Trace]:
    """The smoothed loss; behind it, of a run alone, that of each step."""
    steps, losses = [step for step, _ in record.losses], [loss for _, loss in record.losses]
    hover = "step %{x}: smoothed loss %{y:.3f}"
    smooth = line(steps, smoothed(record.losses), colour, name, hover=hover, aside=name, **look)
    if many:
        return [smooth]
    faint: Look = {**look, "width": 1, "opacity": 0.3, "showlegend": False}
    return [line(steps, losses, colour, name, hover="step %{x}: loss %{y:.3f}", **faint), smooth]
