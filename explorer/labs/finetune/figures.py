"""The fine-tuning lab's curves, status lines and tables of runs, from records."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import SERIES, Look, Panel, Picture, Trace, axis, line, picture, series
from explorer.charts.words import caption, compact, duration, label, megabytes, percent, prose, strong
from explorer.labs.finetune.schema import PlanResult
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import metric_line, metric_text, metric_title, under_way
from explorer.tables import Table
from explorer.tuning.kinds import kind_of, learning_rate

SMOOTHING = 0.85
"""Share of the past in the smoothed loss: about the last seven steps."""


def runs_table(records: Sequence[RunRecord]) -> Table:
    """One row a run."""
    return Table.each(
        records,
        run=lambda record: record.run_id,
        name=lambda record: record.name,
        model=lambda record: record.spec.model,
        task=lambda record: record.task_title,
        method=lambda record: record.spec.method,
        status=lambda record: record.status.value,
        metric=lambda record: record.leading_metric,
        score=lambda record: record.score,
        trainable=lambda record: record.trainable,
        seconds=lambda record: round(record.seconds, 2),
        checkpoint_mb=lambda record: round(record.checkpoint_bytes / 1e6, 3),
        learning_rate=lambda record: record.spec.learning_rate,
        epochs=lambda record: record.spec.epochs,
        batch_size=lambda record: record.spec.batch_size,
        seed=lambda record: record.spec.seed,
    )


def smoothed(losses: Sequence[tuple[int, float]]) -> list[float]:
    """The losses' exponential mean, corrected for its start as Adam's moments are."""
    mean, values = 0.0, []
    for count, (_, loss) in enumerate(losses, start=1):
        mean = SMOOTHING * mean + (1 - SMOOTHING) * loss
        values.append(mean / (1 - SMOOTHING**count))
    return values


def curves_figure(records: Sequence[RunRecord], described: str = "") -> Picture:
    """Loss above, the held-out metric below, against the step; one colour a run, with a legend where there are several."""
    many = len(records) > 1
    losses: list[Trace] = []
    metrics: list[Trace] = []
    for place, record in enumerate(records):
        name, colour = _name(record, records), series(place)
        look: Look = {"dash": "" if place < len(SERIES) else "dot", "legendgroup": record.run_id}
        losses += _losses(record, colour, name, many, look)
        metrics.append(metric_line(record, record.leading_metric, colour, name, aside=name, **look))
    last = max((record.steps or record.step for record in records), default=1)
    part = next(
        (record.between for record in records if not all(p.whole for p in record.measured(record.leading_metric))), 0
    )
    title = f"training step (○: first {part} held-out rows)" if part else "training step"
    across, up = axis(title, span=(0, max(1, last) * 1.02)), axis("training loss", zero=True)
    metric = metric_title(records[0].leading_metric) if records else "metric"
    panels = [Panel(losses, across, up), Panel(metrics, None, axis(metric, span=_metric_range(records)))]
    said = described or (run_sentence(records[0]) if records else "no run")
    height = 480 if many else 400
    return picture(said, panels, columns=1, height=height, above=12, legend=many, legend_size=14, uirevision="curves")


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


def run_sentence(record: RunRecord) -> Markup:
    """How a run stands, or what it reached."""
    status = record.status
    if status.is_active:
        training = status is RunStatus.RUNNING and record.step
        message = f" {record.message}." if record.message else ""
        memory = f" Memory in use: {megabytes(record.memory_bytes)}.{message}" if training else ""
        return prose(under_way(record, f", {record.rate:.0f} examples/s"), memory)
    if record.outcome is None:
        verb = "has" if status is RunStatus.FAILED else "is"
        return prose(strong(record.name), f" {verb} {status.value}. ", record.message)
    split, values = next(iter(record.outcome.metrics.items()))
    reached = ", ".join(metric_text(name, value) for name, value in values.items())
    kind = kind_of(record.spec.method, record.kind).unit
    parts = [strong(record.name), " reaches ", strong(reached), f" on {record.outcome.rows[split]:,} {kind}"]
    before = next(iter(record.measured(record.leading_metric)), None)
    if before is not None and before.value is not None and before.step == 0:
        where = "" if before.whole else f" on the first {record.between} of them"
        parts.append(f" ({metric_text(record.leading_metric, before.value).split()[-1]}{where} before training)")
    share = record.trainable / record.parameters if record.parameters else 0
    parts.append(f". It trained {record.trainable:,} of {compact(record.parameters)} parameters ({percent(share)})")
    parts.append(f" in {duration(record.seconds)}." if record.seconds else ".")
    for name, others in list(record.outcome.metrics.items())[1:]:
        parts.append(f" On {name.replace('_', ' ')}: {', '.join(metric_text(key, v) for key, v in others.items())}.")
    for real in record.real:
        said = ", ".join(metric_text(name, value) for name, value in real.metrics.items())
        parts += [f" On GLUE's own {real.title} ({real.rows:,} examples of {real.file}): ", strong(said), "."]
    return prose(*parts, f" {record.message}" if record.message else "")


def plan_sentence(result: PlanResult) -> Markup:
    """What would be trained, at what cost; or why it cannot be."""
    if result.unavailable:
        return prose(strong(f"{result.title} cannot be had on {result.model_id}: "), result.unavailable)
    share = result.trainable / result.total if result.total else 0.0
    return prose(
        strong(f"{result.trainable:,}"),
        f" of {compact(result.total)} parameters are trained (",
        strong(percent(share)),
        f"); the checkpoint takes {megabytes(result.checkpoint_bytes)}. {result.steps:,} steps on {result.examples:,} "
        f"examples: about {duration(result.seconds)} and {megabytes(result.memory_bytes)} here, estimated.",
        *(f" {note}" for note in result.notes),
    )


def plan_table(result: PlanResult) -> Table:
    """module, trainable parameters, share of the model."""
    rows = [(name, count, count / result.total if result.total else 0.0) for name, count in result.modules]
    return Table.of(("module", "trainable", "share"), rows)


def settings_line(record: RunRecord) -> Markup:
    """The settings of a run, for whoever wants to do it again."""
    spec = record.spec
    parts = [
        spec.model,
        record.task_title,
        f"learning rate {learning_rate(spec, kind_of(spec.method, record.kind)):g}",
        f"{spec.epochs} epochs",
        f"batch {spec.batch_size}",
        f"seed {spec.seed}",
    ]
    if spec.method == "lora":
        parts[2:2] = [f"alpha {spec.alpha:g}", "on " + ", ".join(spec.targets)]
    notes = Markup("").join(Markup("<p>{}</p>").format(note) for note in record.notes)
    return caption(" · ".join(parts)) + notes
