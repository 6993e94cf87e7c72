"""The visitor's runs, a task of GLUE each: nothing is computed, records are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from explorer.engine.protocol import Engine
from explorer.labs.finetune.glue import PUBLISHED, GlueParams, GlueResult, GlueTask, Reached
from explorer.models.published import BERT_TABLE_1
from explorer.published import lora
from explorer.runs.examples import OWNER
from explorer.runs.record import Outcome, RunRecord
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from explorer.tasks.places.hub import MARK
from explorer.tasks.task import Task


def glue(engine: Engine, params: GlueParams, owner: str) -> Iterator[GlueResult]:
    """Collect GLUE's eight tasks, each with the best finished run that the visitor has of it, and a published row
    beside them.

    A run on GLUE's own files goes before one on the bundled sentences, whose scores are not comparable with the
    paper's, and the visitor's own runs go before the worked examples. Runs of an uploaded file are left out: what is in
    it is not known.
    """
    yield gathered(engine.runs.list(owner), params)


def gathered(records: Iterable[RunRecord], params: GlueParams) -> GlueResult:
    """Collect the same from any records."""
    row, known = PUBLISHED[params.beside], list(records)
    published = dict(zip(lora.GLUE, row.scores, strict=True))
    tasks = [
        (_name(task), task) for task in TASKS if _name(task) in published
    ]  # the ninth, WNLI, is in no paper's table
    return GlueResult(
        row.name,
        row.average,
        tuple(
            GlueTask(
                name,
                task.question,
                METRICS[task.metrics[0]].title,
                BERT_TABLE_1[name],
                published[name],
                _best(task, known),
            )
            for name, task in tasks
        ),
    )


def _name(task: Task) -> str:
    return task.title.split(" · ")[0]


def _best(task: Task, records: Iterable[RunRecord]) -> Reached | None:
    found = [reached for record in records if (reached := _reached(task, record)) is not None]
    # GLUE's own files first, then the visitor's own runs, then the score.
    return max(found, key=lambda one: (one.real, not one.worked, one.score), default=None)


def _reached(task: Task, record: RunRecord) -> Reached | None:
    """Return what a finished run of this task scores; None for every other run, and if the metric is undefined."""
    name, outcome = record.spec.task, record.outcome
    if name.removesuffix(MARK) != task.slug or outcome is None or not record.status.has_weights or record.from_nothing:
        return None
    score = _together(outcome, task.metrics[0])
    if score is None:
        return None
    real = name.endswith(MARK)
    rows = sum(outcome.rows[split] for split in outcome.metrics)
    worked = record.owner == OWNER
    elsewhere = None if real else _elsewhere(task, record)
    spec = record.spec
    return Reached(record.run_id, record.name, spec.model, spec.method, score, rows, real, worked, elsewhere)


def _together(outcome: Outcome, metric: str) -> float | None:
    """Return a metric times 100 over all splits, weighted by their numbers of examples, as LoRA's Table 2 has MNLI's
    two.
    """
    found = [(values.get(metric), outcome.rows[split]) for split, values in outcome.metrics.items()]
    if any(value is None for value, _ in found) or not found:
        return None
    return 100 * sum((value or 0.0) * rows for value, rows in found) / sum(rows for _, rows in found)


def _elsewhere(task: Task, record: RunRecord) -> tuple[float, int] | None:
    for real in record.real:
        value = real.metrics.get(task.metrics[0])
        if real.title == _name(task) and value is not None:
            return 100 * value, real.rows
    return None
