"""The models of one size fine-tuned alike on the same tasks: the one yardstick that they all share."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, stdev

from markupsafe import Markup

from explorer.charts import SERIES, Panel, Picture, axis, error_bars, level, picture, points
from explorer.charts.words import label, prose, strong
from explorer.maths.seeds import paired_interval
from explorer.params import params
from explorer.runs.examples import TUNED, TUNED_ON, TUNED_SEEDS, of_tuned
from explorer.runs.record import RunRecord
from explorer.settings import BUNDLED_RUNS
from explorer.tables import Table

FIRST = TUNED[0]
"""The model that the others came after."""


@params
class TunedParams:
    """Nothing is asked: the runs were trained beforehand."""


@dataclass(frozen=True)
class TunedModel:
    """A model's accuracy on one task's held-out examples, a seed each, as shares. parameters: of the model with its head."""

    model: str
    scores: tuple[float, ...]
    parameters: int

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return fmean(self.scores)


@dataclass(frozen=True)
class TunedTask:
    """One task: its title, how many held-out examples and classes it has, and every model's scores."""

    title: str
    held_out: int
    classes: int
    models: tuple[TunedModel, ...]


@dataclass(frozen=True)
class TunedResult:
    """Every task with the same models, fine-tuned in full with the same seeds. epochs: of each training."""

    tasks: tuple[TunedTask, ...]
    epochs: int


def tuned_scores(params: TunedParams) -> TunedResult:
    """What the bundled runs of TUNED reached, each on all held-out examples of its task."""
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
        tasks.append(TunedTask(first.task_title.split(" · ")[0], _rows(first), len(first.labels), tuple(models)))
    return TunedResult(tuple(tasks), first.spec.epochs)


def _rows(record: RunRecord) -> int:
    """How many held-out examples its score is of."""
    return next(iter(record.outcome.rows.values())) if record.outcome else 0


def _record(model: str, task: str, seed: int) -> RunRecord:
    return RunRecord.from_json((BUNDLED_RUNS / of_tuned(model, task, seed) / "record.json").read_text(encoding="utf-8"))


def tuned_table(result: TunedResult) -> Table:
    """task, model, seed, accuracy, held_out (examples), parameters: a row for each run."""
    rows = [
        (task.title, one.model, seed, accuracy, task.held_out, one.parameters)
        for task in result.tasks
        for one in task.models
        for seed, accuracy in zip(TUNED_SEEDS, one.scores, strict=True)
    ]
    return Table.of(("task", "model", "seed", "accuracy", "held_out", "parameters"), rows)


def tuned_sentence(result: TunedResult) -> Markup:
    """The best model of each task, and which models are ahead of BERT or behind it beyond chance."""
    parts: list[str] = []
    for task in result.tasks:
        best = max(task.models, key=lambda one: one.mean)
        parts += [f"{task.title}: ", strong(best.model), " does best, ", strong(f"{best.mean:.1%}"), ". "]
        parts.append(_beside_first(task))
    return prose(*parts)


def _beside_first(task: TunedTask) -> str:
    first, others = task.models[0], task.models[1:]
    found = {one.model: paired_interval(one.scores, first.scores).direction for one in others}
    said = [
        f"{words} {first.model}: {', '.join(name for name, direction in found.items() if direction == wanted)}"
        for wanted, words in ((1, "ahead of"), (-1, "behind"))
        if wanted in found.values()
    ]
    if not said:
        return f"The seeds tell none of the others from {first.model}. "
    return f"Beyond chance {'; '.join(said)}. "


def tuned_figure(result: TunedResult) -> Picture:
    """A panel a task: each seed an open mark, the mean a full one with the standard deviation, chance a dotted line."""
    shown = [_panel(task) for task in result.tasks]
    return picture(
        tuned_sentence(result), shown, height=150 + 42 * len(TUNED), phone=2 * (150 + 42 * len(TUNED)), right=24
    )


def _panel(task: TunedTask) -> Panel:
    names = [label(one.model) for one in task.models]
    seeds = [(accuracy, name) for one, name in zip(task.models, names, strict=True) for accuracy in one.scores]
    each = points(
        [accuracy for accuracy, _ in seeds],
        [name for _, name in seeds],
        SERIES[0],
        size=8,
        symbol="circle-open",
        showlegend=False,
        hover="%{y}, one seed: %{x:.1%}",
    )
    means = points(
        [one.mean for one in task.models],
        names,
        SERIES[0],
        size=13,
        showlegend=False,
        error_x=error_bars([stdev(one.scores) for one in task.models], colour="@muted", thickness=2, width=6),
        hover="%{y}, mean of the seeds: %{x:.1%}",
    )
    chance = level(1 / task.classes, "@muted", dash="dot", upright=True)
    across = axis(f"accuracy on {task.held_out} held-out examples", percent=True)
    return Panel([each, means], across, axis(down=True, grid=False), task.title, marks=[chance])
