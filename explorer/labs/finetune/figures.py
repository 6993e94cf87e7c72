"""The fine-tuning lab's curves, status lines and tables of runs, from records."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts.words import caption, compact, duration, megabytes, percent, prose, strong
from explorer.labs.finetune.schema import PlanResult
from explorer.runs.record import Measured, RunRecord, RunStatus
from explorer.runs.report import metric_text, under_way
from explorer.tables import Table
from explorer.tuning.kinds import kind_of, learning_rate


def runs_table(records: Sequence[RunRecord]) -> Table:
    """One row a run."""
    return Table.each(
        records,
        run="run_id",
        name="name",
        model="spec.model",
        task="task_title",
        method="spec.method",
        status="status.value",
        metric="leading_metric",
        score="score",
        trainable="trainable",
        seconds=lambda record: round(record.seconds, 2),
        checkpoint_mb=lambda record: round(record.checkpoint_bytes / 1e6, 3),
        learning_rate="spec.learning_rate",
        epochs="spec.epochs",
        batch_size="spec.batch_size",
        seed="spec.seed",
    )


def run_sentence(record: RunRecord) -> Markup:
    """Say how a run stands, or what it reached, beside what it had before training if that is of the same rows."""
    status = record.status
    if status.is_active:
        training = status is RunStatus.RUNNING and record.step
        message = f" {record.message}." if record.message else ""
        memory = f" Memory in use: {megabytes(record.memory_bytes)}.{message}" if training else ""
        return prose(under_way(record, f", {record.rate:.0f} examples/s"), memory)
    if record.outcome is None:
        verb = "has" if status is RunStatus.FAILED else "is"
        return prose(strong(record.name), f" {verb} {status.value}. ", record.message)
    metric = record.leading_metric
    parts = [strong(record.name), " reaches ", strong(metric_text(metric, record.score))]
    before = _before(record)
    if before is not None and before.whole:
        # The number without the metric's name.
        parts.append(f"; before training it had {metric_text(metric, before.value).split()[-1]}")
    return prose(*parts, ".", f" {record.message}" if record.message else "")


def _before(record: RunRecord) -> Measured | None:
    """Return the leading metric before the first step, if it was measured."""
    first = next(iter(record.measured(record.leading_metric)), None)
    return first if first is not None and first.value is not None and first.step == 0 else None


def run_notes(record: RunRecord) -> Markup:
    """Say what a run reached by every metric and on how many rows, what it trained, and what other files say."""
    if record.status.is_active or record.outcome is None:
        return Markup("")
    split, values = next(iter(record.outcome.metrics.items()))
    reached = ", ".join(metric_text(name, value) for name, value in values.items())
    kind = kind_of(record.spec.method, record.kind).unit
    parts = [f"It reaches {reached} on {record.outcome.rows[split]:,} {kind}"]
    if (before := _before(record)) is not None:
        where = "" if before.whole else f" on the first {record.between} of them"
        parts.append(f" ({metric_text(record.leading_metric, before.value).split()[-1]}{where} before training)")
    share = record.trainable / record.parameters if record.parameters else 0
    parts.append(f". It trained {record.trainable:,} of {compact(record.parameters)} parameters ({percent(share)})")
    parts.append(f" in {duration(record.seconds)}." if record.seconds else ".")
    if record.kept:
        where = "the held-out rows" if record.between is None else f"the first {record.between} held-out rows"
        parts.append(
            f" These are the numbers of step {record.kept} of {record.step}, the best evaluation on {where}; that these rows "
            "chose the step flatters its score a little."
        )
    return caption(*parts, *_elsewhere(record))


def _elsewhere(record: RunRecord) -> list[str]:
    """Say what the run reached on other splits, and on GLUE's own files."""
    metrics = record.outcome.metrics if record.outcome else {}
    parts = [
        f" On {name.replace('_', ' ')}: {', '.join(metric_text(key, v) for key, v in others.items())}."
        for name, others in list(metrics.items())[1:]  # the first split is told above
    ]
    for real in record.real:
        said = ", ".join(metric_text(name, value) for name, value in real.metrics.items())
        parts.append(f" On GLUE's own {real.title} ({real.rows:,} examples of {real.file}): {said}.")
    return parts


def plan_sentence(result: PlanResult) -> Markup:
    """Say what would be trained, at what cost; or why it cannot be."""
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
    """State the settings of a run, for whoever wants to do it again."""
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
        parts[2:2] = [f"alpha {spec.alpha:g}", "on " + ", ".join(spec.targets)]  # after the model and the task
    notes = Markup("").join(Markup("<p>{}</p>").format(note) for note in record.notes)
    return caption("Settings of this run: " + " · ".join(parts)) + notes
