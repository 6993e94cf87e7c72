"""What fine-tuning costs of what the model knew: hidden words of held-out sentences, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from markupsafe import Markup
from pydantic import AfterValidator

from explorer.action import LiveAction
from explorer.charts import Panel, Picture, Trace, axis, bars, error_bars, level, picture, rows, texts
from explorer.charts.words import caption, counted, fixed, label, percent, prose, signed, strong
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Names
from explorer.params import Shown, params
from explorer.runs.examples import BY_METHOD, FIRST, OTHER_RANK
from explorer.runs.record import told_apart
from explorer.runs.report import metric_text
from explorer.tables import Table
from explorer.worked import Opening

MOST_RUNS = 12
OPENING = (FIRST, OTHER_RANK, BY_METHOD["bitfit"], BY_METHOD["houlsby"])
"""Two ranks, and two methods of other kinds, all on one task."""


def _some(runs: tuple[str, ...]) -> tuple[str, ...]:
    different = tuple(dict.fromkeys(runs))
    if not 1 <= len(different) <= MOST_RUNS:
        raise BadInputError(f"Choose 1 to {MOST_RUNS} runs of one model; got {len(different)}.")
    return different


@params
class ForgettingParams:
    """Several runs of one model."""

    runs: Annotated[tuple[str, ...], Names(), AfterValidator(_some), Shown("Runs of one model")] = OPENING


@dataclass(frozen=True)
class Estimate:
    """A mean over words and the middle 95% of its bootstrap draws, in each of which whole sentences are drawn again."""

    value: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Whether chance alone would do."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Remembered:
    """One run. accuracy, loss: of hidden words; the changes are from before, on the same words.

    score: on its own task, by the leading metric, `metric`; None if it is not known.
    """

    name: str
    method: str
    metric: str
    score: float | None
    accuracy: Estimate
    loss: Estimate
    accuracy_change: Estimate
    loss_change: Estimate


@dataclass(frozen=True)
class ForgettingResult:
    """accuracy, loss: of the model before any run. left_out: (run, why it has no before and after). wanted: how many runs there
    are to be. sentences, words: what is measured on."""

    model: str
    sentences: int
    words: int
    accuracy: Estimate
    loss: Estimate
    runs: tuple[Remembered, ...]
    left_out: tuple[tuple[str, str], ...]
    wanted: int


def require_a_run(result: ForgettingResult) -> None:
    """Raise BadInputError with the reason if no run could be measured."""
    if not result.runs and result.left_out:
        name, reason = result.left_out[0]
        raise BadInputError(f"{name}: {reason}")


BEFORE = "before any run"


def forgetting_table(result: ForgettingResult) -> Table:
    """run, task_score, accuracy, accuracy_low, accuracy_high, accuracy_change, change_low, change_high, loss, loss_change,
    loss_change_low, loss_change_high: of hidden words, low and high the ends of 95% intervals.
    """
    columns = ("run", "task_score", "accuracy", "accuracy_low", "accuracy_high", "accuracy_change", "change_low")
    more = ("change_high", "loss", "loss_change", "loss_change_low", "loss_change_high")
    first = (BEFORE, None, *_three(result.accuracy), None, None, None, result.loss.value, None, None, None)
    others = [
        (
            run.name,
            run.score,
            *_three(run.accuracy),
            *_three(run.accuracy_change),
            run.loss.value,
            *_three(run.loss_change),
        )
        for run in result.runs
    ]
    return Table.of((*columns, *more), [first, *others])


def _three(one: Estimate) -> tuple[float, float, float]:
    return one.value, one.low, one.high


def forgetting_sentence(result: ForgettingResult) -> Markup:
    """Say after which run the model guesses fewest of the hidden words, and how many before."""
    before = strong(percent(result.accuracy.value))
    if not result.runs:
        said = f" of the hidden words before any fine-tuning; {counted(result.wanted, 'run')} to read."
        return prose(result.model, " guesses ", before, said)
    least = min(result.runs, key=lambda run: run.accuracy.value)
    fewest = " guesses fewest of the hidden words: " if len(result.runs) > 1 else " guesses of the hidden words "
    after = strong(percent(least.accuracy.value))
    return prose(
        "After ", _name(least, result), f" {result.model}", fewest, after, "; before any fine-tuning ", before, "."
    )


def _read_notes(result: ForgettingResult) -> Markup:
    """Say what the model knew, which run has kept most and which least, and which changes may be chance."""
    parts: list[str] = [
        f"Of {result.words:,} hidden words in {result.sentences} held-out sentences {result.model} guesses ",
        strong(percent(result.accuracy.value)),
        " before any fine-tuning",
    ]
    if not result.runs:
        return caption(*parts, f"; {result.wanted} runs are being read.")
    most, least = (chosen(result.runs, key=lambda run: run.accuracy.value) for chosen in (max, min))
    parts += [". After ", *_after(least, result)]
    if most is not least:
        parts += ["; after ", *_after(most, result)]
    parts.append(".")
    same = [_name(run, result) for run in result.runs if run.accuracy_change.holds_zero]
    if same:
        parts.append(f" No change beyond chance in accuracy: {', '.join(same)}.")
    left = result.wanted - len(result.runs)
    return caption(*parts, f" {left} more to read." if left else "")


def _after(run: Remembered, result: ForgettingResult) -> list[str]:
    change = run.accuracy_change
    points = f"{signed(100 * change.value, 1)} points, {signed(100 * change.low, 1)} to {signed(100 * change.high, 1)}"
    scored = "" if run.score is None else f", which reaches {metric_text(run.metric, run.score)} on its task,"
    return [f"{_name(run, result)}{scored} it is ", strong(percent(run.accuracy.value)), f" ({points})"]


def _name(run: Remembered, result: ForgettingResult) -> str:
    return told_apart(run.name, (one.name for one in result.runs))


def forgetting_notes(result: ForgettingResult) -> Markup:
    """Say what each run has kept, with intervals; which runs are left out, and why."""
    return _read_notes(result) + Markup("").join(
        caption(strong(name), f" is left out: {reason}") for name, reason in result.left_out
    )


def forgetting_figure(result: ForgettingResult) -> Picture:
    """Draw a bar a run with its 95% interval: accuracy beside the model's own, and how much more a hidden word costs."""
    names = [BEFORE, *(label(_name(run, result), 22) for run in result.runs)]
    own = (result.accuracy, *(run.accuracy for run in result.runs))
    costs = (Estimate(0, 0, 0), *(run.loss_change for run in result.runs))  # before any run nothing has changed
    scores = ["", *("" if run.score is None else metric_text(run.metric, run.score) for run in result.runs)]
    inside = {"texts": [percent(one.value) for one in own], "at": "inside", "insidetextanchor": "start"}
    accuracy = _bars(own, scores, "%{x:.2%}", **inside)
    beyond, more = (
        [max(one.high, 0.0) for one in costs],
        ["", *(f"  {signed(run.loss_change.value)}" for run in result.runs)],
    )
    written = texts(beyond, range(len(names)), more, textposition="middle right", cliponaxis=False)
    loss = [_bars(costs, scores, "%{x:+.3f}"), written]
    top = max(one.high for one in own)
    # Changes below 0.1 nats stay small.
    low, high = min(0.0, *(one.low for one in costs)), max(0.1, *(one.high for one in costs))
    reach = high - low
    panels = [
        Panel(
            [accuracy],
            # Room beyond the intervals.
            axis("hidden words guessed", percent=True, span=(0, min(1.0, 1.3 * top)), nticks=5),
            rows(names),
            marks=[level(result.accuracy.value, upright=True)],
        ),
        Panel(  # room for the texts at the bars' ends
            loss,
            axis("change of the mean −ln p", span=(low - 0.05 * reach, high + 0.3 * reach), nticks=5),
            rows(names, outer=True),
            marks=[level(0, upright=True)],
        ),
    ]
    height = 120 + 46 * len(names)
    return picture(forgetting_sentence(result), panels, height=height, phone=2 * height + 40, gap=0.06)


def _bars(values: Sequence[Estimate], scores: Sequence[str], form: str, **look: Any) -> Trace:
    """Draw bars at 0, 1, 2 with intervals."""
    off = error_bars(
        [one.high - one.value for one in values], [one.value - one.low for one in values], thickness=2, width=6
    )
    tasks = [f"; on its task {score}" if score else "" for score in scores]
    said = [[fixed(one.low, 3), fixed(one.high, 3), task] for one, task in zip(values, tasks, strict=True)]
    hover = f"{form} (95%: %{{customdata[0]}} to %{{customdata[1]}})%{{customdata[2]}}"
    # The first is the model before any run.
    colours, places = ["@muted", *["@first"] * (len(values) - 1)], range(len(values))
    return bars(places, [one.value for one in values], colours, hover=hover, error_x=off, customdata=said, **look)


FORGETTING = LiveAction(
    Job("explorer.labs.delta.forgetting_jobs:forgetting", on="resources"),
    ForgettingParams,
    forgetting_table,
    require_a_run,
    openings=(Opening(ForgettingParams(), ForgettingResult),),
)
