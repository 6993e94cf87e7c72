"""What pruning has left: the metric step by step, each layer's heads and neurons, before and after, one step against many."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import compact, label, layout, megabytes, picture, prose, strong
from explorer.labs.pruning.importance_figures import PLURALS, shared_note
from explorer.labs.pruning.orders_figures import measured_table, milliseconds
from explorer.labs.pruning.schema import Left, PruneResult, Step, StepsResult
from explorer.tables import Table

MICHEL = (("1", "+1.9%"), ("4", "+2.7%"), ("16", "+17.5%"), ("64", "+17.5%"))
"""Speed with half of BERT's heads pruned, by batch size (Michel et al. 2019, Table 4)."""

TEXTPRUNER = ((1, 45.35, 85.15), (2, 86.45, 89.10), (4, 90.55, 90.90), (8, 90.90, 90.60), (16, 91.95, 90.85))
"""XLM-R-base on PAWS-X (English accuracy, whole 94.65) at (6 heads, 1536 FFN) by the number of steps: heads uneven, heads even.
TextPruner's README, section Performance (Yang et al. 2022)."""


def prune_table(result: PruneResult) -> Table:
    """share, metric, parameters, milliseconds; the first row is the whole model."""
    return measured_table([(step.share, step.measured) for step in result.steps])


def _metric(step: Step) -> str:
    return "not defined" if step.measured.metric is None else f"{step.measured.metric:.3f}"


def prune_sentence(result: PruneResult) -> Markup:
    """What is gone, what it cost and what it gained."""
    first, last = result.steps[0], result.steps[-1]
    if len(result.steps) == 1:
        return prose(f"Whole, {result.about.name} has {result.about.metric.lower()} ", strong(_metric(first)), ".")
    before, after = first.measured, last.measured
    smaller = 1 - after.parameters / before.parameters
    parts = [
        f"Without {100 * last.share:.0f}% of the {PLURALS[result.unit]}: {result.about.metric.lower()} ",
        strong(_metric(last)), f" instead of {_metric(first)}. ",
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
    return prose(*parts)


def left_figure(result: PruneResult) -> dict[str, Any] | str:
    """Heads and neurons of each layer, whole and left; nothing where parts are masked only."""
    left = result.left
    if left is None or left.gap is None:
        return ""
    shape = result.about.shape
    names = [str(layer) for layer in range(shape.depth)]
    heads, neurons = (_by_depth(left, values, shape.depth) for values in (left.heads, left.neurons))

    def bars(values: list[int], whole: int, axis: str, colour: str) -> list[dict[str, Any]]:
        shown = {"type": "bar", "x": names, "xaxis": f"x{axis}", "yaxis": f"y{axis}"}
        return [
            {**shown, "y": [whole] * len(names), "marker": {"color": "@untouched"}, "hoverinfo": "skip"},
            {
                **shown,
                "y": values,
                "marker": {"color": colour},
                "hovertemplate": "layer %{x}: %{y} left<extra></extra>",
            },
        ]

    def shaped(narrow: bool) -> dict[str, Any]:
        axis = {"title": {"text": "layer"}, "type": "category", "showgrid": False}
        spans = ([0, 1], [0, 1]) if narrow else ([0, 0.44], [0.58, 1])
        tall = ([0.6, 1], [0, 0.36]) if narrow else ([0, 1], [0, 1])
        return {
            "height": 430 if narrow else 260,
            "barmode": "overlay",
            "xaxis": {**axis, "domain": spans[0], "anchor": "y"},
            "xaxis2": {**axis, "domain": spans[1], "anchor": "y2"},
            "yaxis": {"title": {"text": "heads"}, "range": [0, shape.heads], "domain": tall[0]},
            "yaxis2": {"title": {"text": "neurons"}, "range": [0, shape.neurons], "anchor": "x2", "domain": tall[1]},
            "margin": {"l": 8, "r": 8, "t": 12, "b": 8},
        }

    described = f"Heads left in each layer: {', '.join(map(str, heads))}. Neurons left: {', '.join(map(str, neurons))}."
    bars_of_both = [*bars(heads, shape.heads, "", "@first"), *bars(neurons, shape.neurons, "2", "@third")]
    return {**picture(bars_of_both, described, **shaped(False)), "low": 230, "narrow": layout(**shaped(True))}


def _by_depth(left: Left, values: tuple[int, ...], depth: int) -> list[int]:
    """0 where a whole layer is gone."""
    found = dict(zip(left.layers, values, strict=True))
    return [found.get(layer, 0) for layer in range(depth)]


def before_after(result: PruneResult) -> Markup:
    """Parameters, size and milliseconds before and after, beside Michel et al.'s speeds."""
    before, after = result.steps[0].measured, result.steps[-1].measured
    rows = [
        (result.about.metric, _metric(result.steps[0]), _metric(result.steps[-1]), ""),
        (
            "parameters",
            compact(before.parameters),
            compact(after.parameters),
            _times(before.parameters, after.parameters),
        ),
        ("file size", megabytes(before.bytes), megabytes(after.bytes), _times(before.bytes, after.bytes)),
    ]
    for speed in result.speeds:
        times = _times(speed.before, speed.after)
        rows.append((f"batch of {speed.batch}", milliseconds(speed.before), milliseconds(speed.after), times))
    head = Markup("<thead><tr><th>measured</th><th>whole</th><th>pruned</th><th>ratio</th></tr></thead>")
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(Markup("<td>{}</td>").format(cell) for cell in row))
        for row in rows
    )
    return Markup(
        '<table class="quoted"><caption>Before and after, measured here</caption>{}<tbody>{}</tbody></table>'
    ).format(head, body)


def _times(before: float, after: float) -> str:
    return f"{before / after:.2f}" if after else "∞"


def michel_quote() -> Markup:
    """Their Table 4 in a line."""
    cells = Markup(" · ").join(Markup("batch {}: <b>{}</b>").format(batch, gain) for batch, gain in MICHEL)
    return Markup(
        '<p class="caption">Quoted: with 50% of BERT\'s heads pruned (MNLI), examples a second change by {} '
        "(Michel et al. 2019, Table 4). Heads alone are a third of a layer's weights; neurons are the other two.</p>"
    ).format(cells)


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
    """Where each way ends."""
    parts: list[str] = [f"{100 * result.share:.0f}% of the {PLURALS[result.unit]} of {result.about.name} gone: "]
    for place, (name, steps) in enumerate(result.lines):
        parts += ["; " if place else "", f"{name} ", strong(_metric(steps[-1]))]
        if steps[-1].share < result.share - 0.02 and not result.done:
            parts.append(f" so far, at {100 * steps[-1].share:.0f}%")
    whole = result.lines[0][1][0]
    return prose(*parts, f". Whole: {_metric(whole)}, on {result.about.held_out} held-out examples.")


def steps_figure(result: StepsResult) -> dict[str, Any]:
    """A line a way over the share that is left."""
    colours = ("@second", "@first", "@third")
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": label(name),
            "x": [100 * (1 - step.share) for step in steps],
            "y": [step.measured.metric for step in steps],
            "line": {"color": colour, "width": 3},
            "marker": {"size": 9},
            "hovertemplate": "%{x:.0f}% left: %{y:.3f}<extra></extra>",
        }
        for colour, (name, steps) in zip(colours, result.lines, strict=False)
    ]
    return picture(
        traces,
        steps_sentence(result).striptags(),
        height=380,
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"title": {"text": f"{PLURALS[result.unit]} left (%)"}, "autorange": "reversed"},
        yaxis={"title": {"text": label(result.about.metric)}},
        margin={"l": 8, "r": 16, "t": 40, "b": 8},
    ) | {"low": 280}


def textpruner_quote() -> Markup:
    """The contrast that TextPruner reports."""
    columns = Markup("").join(Markup("<th>{}</th>").format(steps) for steps, _, _ in TEXTPRUNER)
    rows = Markup("").join(
        Markup("<tr><td>{}</td>{}</tr>").format(
            name, Markup("").join(Markup("<td>{:.2f}</td>").format(row[place]) for row in TEXTPRUNER)
        )
        for name, place in (("heads uneven", 1), ("heads even", 2))
    )
    return Markup(
        '<table class="quoted"><caption>XLM-R-base on PAWS-X pruned to 6 heads and 1,536 neurons a layer, English accuracy by '
        "number of steps (whole: 94.65), quoted from TextPruner's README (Yang et al. 2022)</caption>"
        "<thead><tr><th>steps</th>{}</tr></thead><tbody>{}</tbody></table>"
    ).format(columns, rows)
