"""What pruning has left: the metric step by step, each layer's heads and neurons, before and after, one step against many."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.charts import KEPT, Panel, Picture, axis, bars, chart, error_bars, line, picture
from explorer.charts.words import caption, compact, label, megabytes, milliseconds, prose, quoted, strong
from explorer.labs.pruning.importance_figures import PLURALS, metric_text, shared_note
from explorer.labs.pruning.orders_figures import measured_table
from explorer.labs.pruning.schema import About, Left, PruneResult, Step, StepsResult
from explorer.maths.intervals import wilson
from explorer.tables import Table

MICHEL = (("1", "+1.9%"), ("4", "+2.7%"), ("16", "+17.5%"), ("64", "+17.5%"))
"""Speed with half of BERT's heads pruned, by batch size (Michel et al. 2019, Table 4)."""

TEXTPRUNER = ((1, 45.35, 85.15), (2, 86.45, 89.10), (4, 90.55, 90.90), (8, 90.90, 90.60), (16, 91.95, 90.85))
"""XLM-R-base on PAWS-X (English accuracy, whole 94.65) at (6 heads, 1536 FFN) by the number of steps: heads uneven, heads even.
TextPruner's README, section Performance (Yang et al. 2022)."""


def prune_table(result: PruneResult) -> Table:
    """share, metric, parameters, milliseconds; the first row is the whole model.

    In the end the first row and the last have the milliseconds of a batch of 16 that the two models took in turns.
    """
    return measured_table([(step.share, step.measured) for step in result.steps])


def _metric(step: Step, about: About) -> str:
    return metric_text(step.measured.metric, about.metric)


def prune_sentence(result: PruneResult) -> Markup:
    """Say what it cost."""
    first, last = result.steps[0], result.steps[-1]
    name, metric = result.about.name, result.about.metric.lower()
    if len(result.steps) == 1:
        return prose(f"Whole, {name} has {metric} ", strong(_metric(first, result.about)), ".")
    gone = f"Without the {PLURALS[result.unit]} that are gone {name} has {metric} "
    return prose(gone, strong(_metric(last, result.about)), f" instead of {_metric(first, result.about)}.")


def prune_notes(result: PruneResult) -> Markup:
    """Say what is gone, what it cost and what it gained."""
    first, last = result.steps[0], result.steps[-1]
    if len(result.steps) == 1:
        return Markup("")
    before, after = first.measured, last.measured
    smaller = 1 - after.parameters / before.parameters
    parts = [
        f"Without {100 * last.share:.0f}% of the {PLURALS[result.unit]}: {result.about.metric.lower()} ",
        strong(_metric(last, result.about)), f" instead of {_metric(first, result.about)}. ",
    ]  # fmt: skip
    if result.unit == "weight":
        parts.append(f"{compact(after.parameters)} parameters are not 0, of {compact(before.parameters)}. ")
    else:
        parts.append(
            f"{compact(after.parameters)} parameters instead of {compact(before.parameters)} ({100 * smaller:.0f}% fewer), "
            f"{megabytes(after.bytes)} instead of {megabytes(before.bytes)}. "
        )
    at_16 = next((speed for speed in result.speeds if speed.batch == 16), None)
    if at_16:
        parts += ["At batch 16 it is ", strong(f"{at_16.before / at_16.after:.2f} times"), " as fast. "]
    if result.left and result.left.gap is not None:
        parts.append(f"Masked and really removed differ by {result.left.gap:.1g} at most. ")
        if result.left.plain:
            parts.append("Plain from_pretrained opens what goes home. ")
    if result.note:
        parts.append(result.note if result.unit == "weight" else f"Masked, not removed: {result.note}")
    parts.append(shared_note(result.about.shape))
    return caption(*parts)


def left_figure(result: PruneResult) -> Picture | str:
    """Draw heads and neurons of each layer, whole and left; nothing if parts are masked only.

    Until the end the figure that was there stays.
    """
    left = result.left
    if left is None or left.gap is None:
        return "" if result.done else KEPT
    shape = result.about.shape
    heads, neurons = (_by_depth(left, values, shape.depth) for values in (left.heads, left.neurons))
    said = f"Heads left in each layer: {', '.join(map(str, heads))}. Neurons left: {', '.join(map(str, neurons))}."
    panels = [_left(heads, shape.heads, "heads", "@first"), _left(neurons, shape.neurons, "neurons", "@third")]
    return picture(said, panels, height=260, low=230, phone=430, gap=0.14, above=12, barmode="overlay")


def _left(values: list[int], whole: int, what: str, colour: str) -> Panel:
    """Draw grey bars for all there were, and in front of them what is left."""
    names = [str(layer) for layer in range(len(values))]
    there_were = bars(names, [whole] * len(names), "@untouched", upright=True)
    drawn = [there_were, bars(names, values, colour, upright=True, hover="layer %{x}: %{y} left")]
    return Panel(drawn, axis("layer", names=True), axis(what, span=(0, whole)))


def _by_depth(left: Left, values: tuple[int, ...], depth: int) -> list[int]:
    """Return a value for each depth; 0 if the whole layer is gone."""
    found = dict(zip(left.layers, values, strict=True))
    return [found.get(layer, 0) for layer in range(depth)]


def before_after(result: PruneResult) -> Markup:
    """Tabulate parameters, size and milliseconds before and after."""
    first, last = result.steps[0], result.steps[-1]
    before, after = first.measured, last.measured
    fewer = _times(before.parameters, after.parameters)
    rows = [
        (result.about.metric, _metric(first, result.about), _metric(last, result.about), ""),
        ("parameters", compact(before.parameters), compact(after.parameters), fewer),
        ("file size", megabytes(before.bytes), megabytes(after.bytes), _times(before.bytes, after.bytes)),
    ]
    for speed in result.speeds:
        whole, pruned = (milliseconds(value, ".1f") for value in (speed.before, speed.after))
        rows.append((f"batch of {speed.batch}", whole, pruned, _times(speed.before, speed.after)))
    return quoted(("measured", "whole", "pruned", "ratio"), rows, "Before and after")


def _times(before: float, after: float) -> str:
    return f"{before / after:.2f}" if after else "∞"


def michel_quote() -> Markup:
    """Quote Michel et al.'s Table 4 in a line."""
    gains = Markup(" · ").join(Markup("batch {}: <b>{}</b>").format(batch, gain) for batch, gain in MICHEL)
    return caption(
        "Quoted: with 50% of BERT's heads pruned (MNLI), examples a second change by ",
        gains,
        " (Michel et al. 2019, Table 4). Heads alone are a third of a layer's weights; neurons are the other two.",
    )


def steps_table(result: StepsResult) -> Table:
    """way, step, share, metric, parameters, loss (of the training between)."""
    return Table.of(
        ("way", "step", "share", "metric", "parameters", "loss"),
        [
            (name, number, step.share, step.measured.metric, step.measured.parameters, step.loss)
            for name, steps in result.lines
            for number, step in enumerate(steps)
        ],
    )


def steps_sentence(result: StepsResult) -> Markup:
    """Say which way leaves most, and whether that is more than chance; before the end, what the whole model has."""
    metric, what = result.about.metric.lower(), PLURALS[result.unit]
    if not result.done:
        whole = strong(_metric(result.lines[0][1][0], result.about))
        return prose(f"Whole, {result.about.name} has {metric} ", whole, "; the ways are still being measured.")
    gone = f"With {100 * result.share:.0f}% of the {what} of {result.about.name} gone "
    ends = [(name, steps[-1]) for name, steps in result.lines]
    known = [step.measured.metric for _, step in ends if step.measured.metric is not None]
    if len(known) < len(ends):
        return prose(gone, f"{metric} is not defined after every way.")
    best = [(name, step) for name, step in ends if step.measured.metric == max(known)]
    score = strong(_metric(best[0][1], result.about))
    if len(ends) == 1:
        return prose(gone, f"{ends[0][0]} leaves {metric} ", score, ".")
    if len(best) == len(ends):
        return prose(gone, "every way leaves the same ", metric, ", ", score, ".")
    first, *others = best
    if others:
        names = strong(" and ".join(f"“{name}”" for name, _ in best))
        return prose(gone, names, f" leave the highest {metric}, ", score, ".")
    next_best = max((step for name, step in ends if name != first[0]), key=lambda step: step.measured.metric or 0.0)
    chance = ", and the lead may be chance" if _overlap(result, first[1], next_best) else ""
    return prose(gone, strong(f"“{first[0]}”"), f" leaves the highest {metric}, ", score, f"{chance}.")


def _overlap(result: StepsResult, one: Step, other: Step) -> bool:
    """Return whether the 95% intervals of two accuracies overlap; False for another metric."""
    first, second = _interval(result, one), _interval(result, other)
    return bool(first and second) and max(first[0], second[0]) <= min(first[1], second[1])  # type: ignore[index]


def steps_notes(result: StepsResult) -> Markup:
    """Say where each way ends, what the whole model has, and what so few examples can tell."""
    parts: list[str] = [f"{100 * result.share:.0f}% of the {PLURALS[result.unit]} gone: "]
    for place, (name, steps) in enumerate(result.lines):
        parts += ["; " if place else "", f"{name} {_metric(steps[-1], result.about)}"]
        if steps[-1].share < result.share - 0.02 and not result.done:  # a share of whole units is seldom met exactly
            parts.append(f" so far, at {100 * steps[-1].share:.0f}%")
    whole = result.lines[0][1][0]
    return caption(*parts, f". Whole: {_metric(whole, result.about)}.", _by_chance(result))


def _by_chance(result: StepsResult) -> str:
    """Say what so few examples can tell of the ways' ends; "" before the end, or of a metric that is no share of
    examples.
    """
    ends = [_interval(result, steps[-1]) for _, steps in result.lines]
    if not result.done or None in ends:
        return ""
    # The highest of the lower ends and the lowest of the upper ones: all overlap if the former is no higher.
    low, high = (pick(end[place] for end in ends if end) for pick, place in ((max, 0), (min, 1)))
    if low <= high:
        return (
            f" On {result.about.held_out} held-out examples their 95% intervals overlap: the difference may be chance."
        )
    return f" On {result.about.held_out} held-out examples their 95% intervals lie apart: this is more than chance."


def _interval(result: StepsResult, step: Step) -> tuple[float, float] | None:
    """Return the 95% interval of an accuracy; None for another metric."""
    metric = step.measured.metric
    known = metric is not None and result.about.metric.lower() == "accuracy"
    return wilson(metric, result.about.held_out) if known and metric is not None else None


def steps_figure(result: StepsResult) -> Picture:
    """Draw a line a way over the share that is left; of an accuracy each point with its 95% interval."""

    def bar(steps: tuple[Step, ...]) -> dict[str, Any]:
        found = [(step.measured.metric or 0.0, _interval(result, step)) for step in steps]
        if any(interval is None for _, interval in found):
            return {}
        above = [interval[1] - metric for metric, interval in found if interval]
        below = [metric - interval[0] for metric, interval in found if interval]
        return {"error_y": error_bars(above, below, thickness=1, width=3)}

    traces = [
        line(
            [100 * (1 - step.share) for step in steps],
            [step.measured.metric for step in steps],
            colour,
            label(name),
            size=9,
            hover="%{x:.0f}% left: %{y:.3f}",
            **bar(steps),
        )
        for colour, (name, steps) in zip(("@second", "@first", "@third"), result.lines, strict=False)
    ]
    across, up = axis(f"{PLURALS[result.unit]} left (%)", down=True), axis(label(result.about.metric))
    return chart(steps_sentence(result), traces, across, up, height=380, low=280, legend=True)


def textpruner_quote() -> Markup:
    """Quote the contrast that TextPruner reports."""
    steps, uneven, even = zip(*TEXTPRUNER, strict=True)
    title = (
        "XLM-R-base on PAWS-X pruned to 6 heads and 1,536 neurons a layer, English accuracy by "
        "number of steps (whole: 94.65), quoted from TextPruner's README (Yang et al. 2022)"
    )
    rows = (
        ("heads uneven", *(f"{score:.2f}" for score in uneven)),
        ("heads even", *(f"{score:.2f}" for score in even)),
    )
    return quoted(("steps", *steps), rows, title)
