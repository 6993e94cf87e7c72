"""GPT-2 fine-tuned on meanings and texts: LoRA, prefix and full fine-tuning side by side, as in LoRA's Table 3."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, stdev
from typing import Annotated, Any

from markupsafe import Markup
from pydantic import AfterValidator

from explorer.action import LiveAction
from explorer.charts import Picture
from explorer.charts.words import caption, compact, duration, prose, quoted, strong
from explorer.engine.protocol import Engine
from explorer.errors import BadInputError
from explorer.kinds import Name, Names
from explorer.labs.generation.continued import WRITER
from explorer.params import Shown, params
from explorer.published.lora import TABLE_3
from explorer.runs.comparing import Compared, follow_all, start_all
from explorer.runs.examples import BY_WRITER, WRITTEN
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import curves_figure, gap_text, score_text
from explorer.runs.seeds import Seeds, by_setting, lead_notes, lead_parts, repeated, several_seeds
from explorer.settings import settings
from explorer.tables import Table
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.sources import card
from explorer.tasks.task import WRITTEN as WRITTEN_TASK
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import Alpha, BatchSize, Epochs, Examples, LearningRate, Rank, RunSeed, Targets, Task, spec_of

_WORKED = BY_WRITER[WRITTEN]
ABLE = tuple(method for method in METHODS if method.trains_body)
"""All but the head alone: the head that writes is the model's own."""


def _known(methods: tuple[str, ...]) -> tuple[str, ...]:
    names = [method.slug for method in ABLE]
    wrong = [name for name in methods if name not in names]
    if wrong or not methods:
        raise BadInputError(f"methods takes some of {', '.join(names)}; got {', '.join(wrong)[:60] or 'none'}.")
    return methods


@params
class AdaptParams:
    """One run a method and seed, with the same meanings. learning_rate: None takes what suits each method."""

    model: Annotated[str, Name(missing=f"Choose a model that continues a text, such as {WRITER}.")] = WRITER
    task: Task = _WORKED.task
    methods: Annotated[
        tuple[str, ...],
        Names(),
        AfterValidator(_known),
        Shown("Methods", choices=tuple((method.title, method.slug) for method in ABLE)),
    ] = ("lora", "prefix", "full")
    rank: Rank = _WORKED.rank
    targets: Targets = _WORKED.targets
    alpha: Alpha = _WORKED.alpha
    epochs: Epochs = 10
    batch_size: BatchSize = _WORKED.batch_size
    examples: Examples = 0
    learning_rate: LearningRate = None
    seed: RunSeed = 0
    seeds: Seeds = 1


def values_of(record: RunRecord) -> dict[str, float | None]:
    """Return a run's metrics as they were last measured."""
    if record.outcome is not None and record.outcome.metrics:
        return next(iter(record.outcome.metrics.values()))
    return record.evaluations[-1][1] if record.evaluations else {}


def adapt_table(result: Compared) -> Table:
    """A row a run: its five metrics on the held-out meanings, the loss, and what it trained."""
    rows = []
    for record in result.records:
        found = values_of(record)
        measures = [found.get(name) for name in (*METRICS, "loss")]
        rows.append(
            (
                record.run_id,
                record.name,
                record.status.value,
                record.trainable,
                *measures,
                record.seconds,
                record.spec.seed,
            )
        )
    return Table.of(("run", "name", "status", "trainable", *METRICS, "held_out_loss", "seconds", "seed"), rows)


def adapt_sentence(result: Compared) -> Markup:
    """Say how the runs stand, and how far each has come from the untouched model."""
    parts: list[str] = []
    running = next((one for one in result.records if one.status is RunStatus.RUNNING), None)
    ended = [record for record in result.records if not record.status.is_active]
    if running is not None:
        left = f", about {duration(running.seconds_left)} left" if running.seconds_left else ""
        parts.append(f"{running.name}: step {running.step} of {running.steps or '?'}{left}. ")
    elif len(ended) < len(result.records):
        parts.append("The runs wait for their turn. ")
    if scored := _scored(result):
        best = max(scored, key=lambda record: record.score or 0.0)
        before = dict(best.evaluations).get(0, {}).get("BLEU")  # step 0: before training
        if several_seeds(result.records):
            parts += lead_parts(by_setting(result.records))
        else:
            parts += [strong(best.short_name), " writes with ", strong(f"BLEU {score_text('BLEU', best.score)}"), "."]
        if before is not None:
            parts.append(f" Untouched, {best.spec.model} had {score_text('BLEU', before)}.")
    return prose(*parts) if parts else prose("The runs are starting.")


def _scored(result: Compared) -> list[RunRecord]:
    return [record for record in result.records if record.outcome is not None and record.score is not None]


def adapt_notes(result: Compared) -> Markup:
    """Say what the headline rests on; nothing before any run has a score."""
    scored = _scored(result)
    if not scored:
        return Markup("")
    best = max(scored, key=lambda record: record.score or 0.0)
    unseen = (
        f"Measured on {next(iter(best.outcome.rows.values())) if best.outcome else 0} meanings that no run has seen."
    )
    if several_seeds(result.records):
        return caption(f"{unseen} {lead_notes(by_setting(result.records))}")
    return caption(
        f"{unseen} {best.short_name} trains {compact(best.trainable)} of {compact(best.parameters)} parameters."
    )


def adapt_figure(result: Compared) -> Picture | str:
    """Draw loss, held-out loss and BLEU against the step, of every method's first seed."""
    seen = [runs.first for runs in by_setting(result.records) if runs.first.losses]
    return curves_figure(seen, adapt_sentence(result).striptags()) if seen else ""


def metrics_view(result: Compared) -> Markup:
    """Tabulate the five metrics of each run, and of the untouched model; below them what the headline rests on."""
    rows: list[Any] = []
    several = several_seeds(result.records)
    first = next((record for record in result.records if record.evaluations), None)
    if first is not None and first.evaluations[0][0] == 0:  # measured at step 0, before any training
        rows.append((f"{first.spec.model}, untouched", "0", *_texts(first.evaluations[0][1]), ""))
    rows += [
        (
            f"{record.short_name}, seed {record.spec.seed}" if several else record.short_name,
            compact(record.trainable) if record.trainable else "",
            *_texts(values_of(record)),
            _time(record),
        )
        for record in result.records
    ]
    rows += _means(result.records) if several else []
    rows += [Markup('<td>{}</td><td colspan="7">{}</td>').format(title, reason) for title, reason in result.missing]
    return quoted(
        ("", "trained", *METRICS, "time"), rows, "Held-out meanings, each against its references"
    ) + adapt_notes(result)


def _means(records: tuple[RunRecord, ...]) -> list[tuple[str, ...]]:
    """Return a row a method: every metric's mean over the seeds that have ended, with the standard deviation."""
    rows = []
    for runs in by_setting(records):
        ended = [values_of(record) for record in runs.records if record.outcome is not None]
        if len(ended) > 1:  # one value has no deviation
            columns = [[value for found in ended if (value := found.get(name)) is not None] for name in METRICS]
            cells = [_mean_text(name, values) for name, values in zip(METRICS, columns, strict=True)]
            rows.append((f"{runs.name}, mean of {len(ended)} ± s.d.", compact(runs.trainable), *cells, ""))
    return rows


def _mean_text(name: str, values: list[float]) -> str:
    return f"{score_text(name, fmean(values))} ± {gap_text(name, stdev(values))}" if len(values) > 1 else ""


def _texts(found: dict[str, float | None]) -> list[str]:
    return [score_text(name, found.get(name)) if name in found else "" for name in METRICS]


def _time(record: RunRecord) -> str:
    return duration(record.seconds) if record.seconds else record.status.value


def paper_view() -> Markup:
    """Tabulate LoRA's Table 3."""
    rows = [(one.method, one.model, one.trainable, *map(score_text, METRICS, one.values)) for one in TABLE_3]
    return quoted(("", "model", "trained", *METRICS), rows, "On E2E's own data. Quoted from Hu et al. 2021, Table 3")


def adapt_writer(engine: Engine, params: AdaptParams, owner: str) -> Iterator[Compared | None]:
    """Train a writer by each method and seed on the same meanings, and follow the runs.

    Raises BadInputError for a task without meanings.
    """
    task = card(params.task, settings()).task
    if task.kind != WRITTEN_TASK:
        raise BadInputError(f"{task.title} has no meanings to put into words. Take task = e2e, or a file of E2E.")
    specs = repeated([spec_of(params, method=slug) for slug in params.methods], params.seeds)
    yield from follow_all(engine.runs, *start_all(engine.runs, specs, owner))


ADAPT = LiveAction("explorer.labs.generation.adapt:adapt_writer", AdaptParams, adapt_table)
