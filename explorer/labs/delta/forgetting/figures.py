"""Forgetting as a picture, a sentence and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import Panel, Picture, Trace, axis, bars, error_bars, level, picture, rows, texts
from explorer.charts.words import caption, counted, fixed, label, percent, prose, signed, strong
from explorer.labs.delta.forgetting.schema import Estimate, ForgettingResult, Remembered
from explorer.runs.report import metric_text
from explorer.tables import Table

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
        "After ", _short(least, result), f" {result.model}", fewest, after, "; before any fine-tuning ", before, "."
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
    same = [_short(run, result) for run in result.runs if run.accuracy_change.holds_zero]
    if same:
        parts.append(f" No change beyond chance in accuracy: {', '.join(same)}.")
    left = result.wanted - len(result.runs)
    return caption(*parts, f" {left} more to read." if left else "")


def _after(run: Remembered, result: ForgettingResult) -> list[str]:
    change = run.accuracy_change
    points = f"{signed(100 * change.value, 1)} points, {signed(100 * change.low, 1)} to {signed(100 * change.high, 1)}"
    scored = "" if run.score is None else f", which reaches {metric_text(run.metric, run.score)} on its task,"
    return [f"{_short(run, result)}{scored} it is ", strong(percent(run.accuracy.value)), f" ({points})"]


def _short(run: Remembered, result: ForgettingResult) -> str:
    """Name a run without its task, if the runs are told apart without it."""
    short = [one.name.split(" · ")[0] for one in result.runs]
    return run.name.split(" · ")[0] if len(set(short)) == len(short) else run.name


def forgetting_notes(result: ForgettingResult) -> Markup:
    """Say what each run has kept, with intervals; which runs are left out, and why."""
    return _read_notes(result) + Markup("").join(
        caption(strong(name), f" is left out: {reason}") for name, reason in result.left_out
    )


def forgetting_figure(result: ForgettingResult) -> Picture:
    """Draw a bar a run with its 95% interval: accuracy beside the model's own, and how much more a hidden word costs."""
    names = [BEFORE, *(label(_short(run, result), 22) for run in result.runs)]
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
