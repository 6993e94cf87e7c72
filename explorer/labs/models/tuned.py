"""The models of one size fine-tuned alike on the same examples: the one yardstick that they all share."""

from __future__ import annotations

from dataclasses import dataclass
from math import isclose
from statistics import fmean, stdev

from markupsafe import Markup

from explorer.charts import SERIES, Panel, Picture, axis, error_bars, level, picture, points
from explorer.charts.words import caption, label, prose, strong
from explorer.params import params
from explorer.runs.comparing import ALPHA, lead_in_words
from explorer.runs.examples import TUNED, TUNED_ON, TUNED_SEEDS, of_tuned
from explorer.runs.record import RunRecord
from explorer.runs.report import SHARES, metric_text, metric_title
from explorer.runs.seeds import every_pair_p
from explorer.runs.store import read_examples
from explorer.settings import BUNDLED_RUNS
from explorer.tables import Table

FIRST = TUNED[0]
"""The model that the others came after."""

SUCCESSORS = ("roberta-mini", "electra-mini-discriminator", "deberta-mini")
"""Those whose papers put them ahead of BERT at its own size."""


@params
class TunedParams:
    """Nothing is asked: the runs were trained beforehand."""


@dataclass(frozen=True)
class TunedModel:
    """A model's scores on one task's held-out examples, a seed each. parameters: of the model with its head."""

    model: str
    scores: tuple[float, ...]
    parameters: int

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.scores)

    @property
    def by_seed(self) -> dict[int, float]:
        """The scores, each with its seed."""
        return dict(zip(TUNED_SEEDS, self.scores, strict=True))


@dataclass(frozen=True)
class TunedTask:
    """One task: its title and metric, how many held-out examples it has, what guessing scores, and every model's scores."""

    title: str
    metric: str
    held_out: int
    guessing: float
    models: tuple[TunedModel, ...]


@dataclass(frozen=True)
class TunedResult:
    """Every task with the same models, fine-tuned in full with the same seeds."""

    tasks: tuple[TunedTask, ...]


def tuned_scores(params: TunedParams) -> TunedResult:
    """Read what the bundled runs of TUNED reached, each on all held-out examples of its task."""
    runs = {(task, model): [_record(model, task, seed) for seed in TUNED_SEEDS] for task in TUNED_ON for model in TUNED}
    tasks = []
    for task in TUNED_ON:
        first = runs[task, FIRST][0]
        models = [
            TunedModel(
                model, tuple(float(one.score or 0) for one in runs[task, model]), runs[task, model][0].parameters
            )
            for model in TUNED
        ]
        title, guessing = first.task_title.split(", bundled")[0], 1 / len(first.labels) if first.labels else 0.0
        tasks.append(TunedTask(title, first.leading_metric, _rows(first), guessing, tuple(models)))
    return TunedResult(tuple(tasks))


def _rows(record: RunRecord) -> int:
    """Return how many held-out examples a record's score is of."""
    return next(iter(record.outcome.rows.values())) if record.outcome else 0


def _record(model: str, task: str, seed: int) -> RunRecord:
    return read_examples(BUNDLED_RUNS)[of_tuned(model, task, seed)]


def tuned_table(result: TunedResult) -> Table:
    """task, model, seed, metric, score, held_out (examples), parameters: a row for each run."""
    rows = [
        (task.title, one.model, seed, task.metric, score, task.held_out, one.parameters)
        for task in result.tasks
        for one in task.models
        for seed, score in zip(TUNED_SEEDS, one.scores, strict=True)
    ]
    return Table.of(("task", "model", "seed", "metric", "score", "held_out", "parameters"), rows)


def tuned_sentence(result: TunedResult) -> Markup:
    """Say which model is best at each task, with its mean."""
    told: list[str | Markup] = ["Fine-tuned alike, "]
    for number, task in enumerate(result.tasks):
        # Means of equal scores may differ in the last digit.
        leaders = [one.model for one in task.models if isclose(one.mean, _top(task))]
        told += [" and " if number else "", strong(" and ".join(leaders)), " lead" if leaders[1:] else " leads"]
        told.append(f" on {task.title} with {metric_text(task.metric, _top(task))}")
    return prose(*told, ".")


def _top(task: TunedTask) -> float:
    return max(one.mean for one in task.models)


def tuned_notes(result: TunedResult) -> Markup:
    """Say how sure each lead is, who is ahead of BERT or behind it beyond chance, and what follows if nobody is ahead."""
    parts = [f"{task.title}: {_lead(task)}{_beside_first(task)} " for task in result.tasks]
    if not any(
        direction > 0 for task in result.tasks for name, direction in _beside(task).items() if name in SUCCESSORS
    ):
        parts.append(
            "So no successor is seen to do better than BERT here, as RoBERTa, ELECTRA and DeBERTa do in their papers. Those were "
            "pretrained on gigabytes of text; these began from bert-mini's layers and trained for half an hour each. "
        )
    parts += [f"{task.title}: scores are of {task.held_out} held-out examples. " for task in result.tasks]
    return caption(*parts, "Student's t of the differences seed by seed, 5% for all pairs together, Holm's allowance.")


def _lead(task: TunedTask) -> str:
    """Say how sure the best one's lead is; nothing if two share it."""
    best, *others = sorted(task.models, key=lambda one: -one.mean)
    if not others or isclose(best.mean, others[0].mean):
        return ""
    p = _p(task)
    told = lead_in_words([(one.model, p[frozenset((best.model, one.model))] < ALPHA) for one in others])
    return f"{best.model} leads{told}; "


def _p(task: TunedTask) -> dict[frozenset[str], float]:
    """Return p for every pair of models, by their names."""
    names = [one.model for one in task.models]
    found = every_pair_p([one.by_seed for one in task.models])
    return {frozenset((names[one], names[other])): p for (one, other), p in found.items()}


def _beside(task: TunedTask) -> dict[str, int]:
    """Return for each model but the first: 1 if it is ahead of the first beyond chance, -1 behind, 0 if the seeds don't
    tell.
    """
    (first, *others), p = task.models, _p(task)
    sure = [one for one in others if p[frozenset((first.model, one.model))] < ALPHA]
    return {one.model: (1 if one.mean > first.mean else -1) if one in sure else 0 for one in others}


def _beside_first(task: TunedTask) -> str:
    first, found = task.models[0].model, _beside(task)
    said = [
        f"{words} {first}: {', '.join(name for name, direction in found.items() if direction == wanted)}"
        for wanted, words in ((1, "ahead of"), (-1, "behind"))
        if wanted in found.values()
    ]
    return f"beyond chance {'; '.join(said)}." if said else f"the seeds tell none of the others from {first}."


def tuned_figure(result: TunedResult) -> Picture:
    """Draw a panel a task: each seed an open mark, the mean a full one with the standard deviation, chance a dotted
    line.
    """
    shown = [_panel(task) for task in result.tasks]
    height = 150 + 42 * len(TUNED)
    return picture(tuned_sentence(result), shown, height=height, phone=len(shown) * height, right=24)


def _panel(task: TunedTask) -> Panel:
    names = [label(one.model) for one in task.models]
    seeds = [(score, name) for one, name in zip(task.models, names, strict=True) for score in one.scores]
    each = points(
        [score for score, _ in seeds],
        [name for _, name in seeds],
        SERIES[0],
        size=8,
        symbol="circle-open",
        showlegend=False,
        hover="%{y}, one seed: %{x:.3f}",
    )
    means = points(
        [one.mean for one in task.models],
        names,
        SERIES[0],
        size=13,
        showlegend=False,
        error_x=error_bars([stdev(one.scores) for one in task.models], colour="@muted", thickness=2, width=6),
        hover="%{y}, mean of the seeds: %{x:.3f}",
    )
    chance = level(task.guessing, "@muted", dash="dot", upright=True)
    across = axis(
        metric_title(task.metric),
        percent=task.metric in SHARES,
        span=(min(task.guessing, *(score for score, _ in seeds)) - 0.03, 1.0),
    )
    return Panel([each, means], across, axis(down=True, grid=False), task.title, marks=[chance])
