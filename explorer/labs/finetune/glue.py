"""GLUE as a whole: its eight tasks, what the visitor's runs reach on each so far, and a row of LoRA's Table 2 beside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.action import LiveAction
from explorer.charts.words import caption, cells, counted, fixed, prose, quoted, strong
from explorer.kinds import OneOf
from explorer.params import Shown, params
from explorer.published import lora
from explorer.tables import Table
from explorer.tuning.methods import find_method

PUBLISHED = {row.name.replace(",", ""): row for row in lora.TABLE_2}
"""The rows of LoRA's Table 2, by the names that the endpoint knows them by."""


@params
class GlueParams:
    """Which published row the visitor's own runs stand beside."""

    beside: Annotated[
        str,
        OneOf(tuple(PUBLISHED), tuple(row.name for row in lora.TABLE_2)),
        Shown("Beside, from LoRA's Table 2", dropdown=True),
    ] = "RoBERTa-base LoRA 0.3M"


@dataclass(frozen=True)
class Reached:
    """The best run of a task. score: its leading metric times 100, on `rows` held-out examples.

    real: whether it was trained and is judged on GLUE's own files, rather than on the bundled sentences. worked: whether it is
    one of the app's examples. elsewhere: what a run of bundled sentences scores on so many rows of GLUE's own file, where
    that was measured.
    """

    run_id: str
    name: str
    model: str
    method: str
    score: float
    rows: int
    real: bool
    worked: bool
    elsewhere: tuple[float, int] | None = None


@dataclass(frozen=True)
class GlueTask:
    """One of the eight. name: GLUE's. training: how many examples GLUE has to learn from. published: the row's score."""

    name: str
    question: str
    metric: str
    training: str
    published: float
    reached: Reached | None


@dataclass(frozen=True)
class GlueResult:
    """All eight. beside: the published row, and its average as it is printed."""

    beside: str
    average: str
    tasks: tuple[GlueTask, ...]

    def there(self, real: bool) -> tuple[GlueTask, ...]:
        """Return the tasks that a run has been judged on: by GLUE's own files, or by the bundled sentences."""
        return tuple(task for task in self.tasks if task.reached is not None and task.reached.real is real)


def mean_reached(tasks: Iterable[GlueTask]) -> float:
    """Return GLUE's average, over tasks that all have a run."""
    return lora.average(task.reached.score for task in tasks if task.reached is not None)


def mean_published(tasks: Iterable[GlueTask]) -> float:
    """Return the published row's average over the same tasks."""
    return lora.average(task.published for task in tasks)


HEADS = ("task", "judged by", "GLUE trains on", "best run so far", "it reaches")
NOTE = (
    "A task's best finished run stands in its row: yours before a worked example, GLUE's own files before bundled sentences. "
    "Scores are times 100. The bundled tasks are a few hundred sentences that were written for this app: they ask what GLUE's "
    "tasks ask, and their scores are not comparable with a paper's. MNLI's is of both validation sets together. Numbers of "
    "training examples: BERT, Table 1."
)


def glue_table(result: GlueResult) -> Table:
    """task, metric, training (examples in GLUE, as BERT's Table 1 prints it), run, model, method, score (times 100, empty where
    there is no run), rows (held-out examples behind it), judged_on (GLUE, or bundled sentences that are not comparable with it),
    on_glue (what a run of bundled sentences scores on GLUE's own file, where that was measured), published.
    """
    return Table.each(
        result.tasks,
        task="name",
        metric="metric",
        training="training",
        run=lambda task: task.reached.run_id if task.reached else None,
        model=lambda task: task.reached.model if task.reached else None,
        method=lambda task: task.reached.method if task.reached else None,
        score=lambda task: task.reached.score if task.reached else None,
        rows=lambda task: task.reached.rows if task.reached else None,
        judged_on=lambda task: _judged_on(task.reached) if task.reached else None,
        on_glue=lambda task: task.reached.elsewhere[0] if task.reached and task.reached.elsewhere else None,
        published="published",
    )


def _judged_on(reached: Reached) -> str:
    return "GLUE" if reached.real else "bundled sentences, not comparable"


def glue_sentence(result: GlueResult) -> Markup:
    """Say how many of the eight have a run."""
    there = len(result.there(True)) + len(result.there(False))
    if not there:
        return prose("No task of GLUE has a finished run yet.")
    all_of = strong(f"{there} of GLUE's {len(result.tasks)} tasks")
    return prose(all_of, f" {'has' if there == 1 else 'have'} a finished run.")


def glue_notes(result: GlueResult) -> Markup:
    """Say what the averages are: of GLUE's own files beside the paper's over the same tasks, of bundled sentences
    alone.
    """
    real, bundled = result.there(True), result.there(False)
    parts = [*(_beside(result, real) if real else []), *([" "] if real and bundled else [])]
    parts += _apart(bundled) if bundled else []
    if not real:
        parts.append(f" {result.beside} has {result.average} over all {len(result.tasks)}, on GLUE itself.")
    return caption(*parts)


def _beside(result: GlueResult, real: Sequence[GlueTask]) -> list[str]:
    """State the two averages over the same tasks, on GLUE's own files."""
    mine, theirs = strong(fixed(mean_reached(real), 1)), fixed(mean_published(real), 1)
    if len(real) == 1:
        return [f"On GLUE's own {real[0].name} it reaches ", mine, f", where {result.beside} has {theirs}."]
    if len(real) == len(result.tasks):
        return ["Their average on GLUE's own files is ", mine, f", where {result.beside} has {result.average}."]
    judged = f"Over the {len(real)} that are judged on GLUE's own files the average is "
    return [judged, mine, f", where {result.beside} has {theirs} over the same."]


def _apart(bundled: Sequence[GlueTask]) -> list[str]:
    """State the average on bundled sentences, which no paper's stands beside."""
    mine = strong(fixed(mean_reached(bundled), 1))
    if len(bundled) == 1:
        return [f"{bundled[0].name}'s ", mine, " is of bundled sentences, so it is not comparable with GLUE's."]
    judged = f"Over the {len(bundled)} that are judged on bundled sentences the average is "
    return [judged, mine, ", which is not comparable with GLUE's."]


def glue_view(result: GlueResult) -> Markup:
    """Tabulate a row a task, the averages below."""
    rows = [cells(_row(task)) for task in result.tasks]
    return quoted((*HEADS, result.beside), [*rows, _footer(result)]) + glue_notes(result) + caption(NOTE)


def _row(task: GlueTask) -> tuple[str, ...]:
    return (
        strong(task.name) + Markup("<br>") + task.question,
        task.metric.removesuffix(" correlation"),
        task.training,
        *(_reached(task.reached) if task.reached else ("none yet", "")),
        fixed(task.published, 1),
    )


def _reached(one: Reached) -> tuple[Markup, Markup]:
    """Write the run, with a link to it, and its score with what it was judged on."""
    title = f"{find_method(one.method).title} on {one.model}"
    run = Markup('<a href="finetune?run={}">{}</a>').format(one.run_id, title)
    if one.worked:
        run += Markup("<br>worked example")
    score = strong(fixed(one.score, 1)) + Markup("<br>") + f"on {_where(one)}"
    if one.elsewhere is not None:
        value, rows = one.elsewhere
        score += Markup("<br>") + f"{fixed(value, 1)} on GLUE's {rows:,}"
    return run, score


def _where(one: Reached) -> str:
    return f"GLUE's {one.rows:,}" if one.real else f"{one.rows:,} bundled, not comparable"


def _footer(result: GlueResult) -> Markup:
    """Write the averages: never of GLUE's files and bundled sentences in one."""
    said = Markup("<br>").join(
        strong(fixed(mean_reached(tasks), 1))
        + f" over {counted(len(tasks), 'task')} {'of GLUE' if real else 'bundled here'}"
        for real in (True, False)
        if (tasks := result.there(real))
    )
    return cells((strong("average"), "", "", "", said, result.average))


GLUE = LiveAction("explorer.labs.finetune.glue_live:glue", GlueParams, glue_table)
