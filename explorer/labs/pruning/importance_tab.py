"""What matters: the importance of every head, neuron, layer or weight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.pruning import IMPORTANCE, importance_figures
from explorer.labs.pruning.bench import PRIVATE, Live, Subject, bar, setting, start_stop, tries
from explorer.labs.pruning.params import SCORES
from explorer.labs.pruning.schema import ImportanceResult
from explorer.ui.components import plot, rich_text
from explorer.ui.wiring import LATEX, folds

UNITS = [
    ("attention heads", "head"),
    ("feed-forward neurons", "neuron"),
    ("whole layers", "layer"),
    ("weights", "weight"),
]
TITLES = {
    "gradient": "gradient: |∂L/∂ξ|, or |w ∂L/∂w|",
    "normalised": "gradient, each layer's l2 norm 1",
    "magnitude": "magnitude |w|",
    "movement": "movement −w ∂L/∂w",
}

WHY = r"""
A gate $\xi$ multiplies what a part passes on; at 1 the model is as it was. The importance of the part is how much the loss
would change with its gate, on average over examples:

$$I = \mathbb{E}_x\left|\frac{\partial \mathcal{L}(x)}{\partial \xi}\right|$$

(Michel, Levy and Neubig 2019, section 4.1.) The absolute value is taken for each example, for gradients of different sign would
cancel. Every example has gates of its own here, so **one** forward and backward pass of a batch gives every gate's gradient for
every example. A whole layer's gate is on what it adds, $h + \xi\,(\text{layer}(h) - h)$. A gate on a single weight gives
$|w\,\partial\mathcal{L}/\partial w|$, here the mean over batches of 16; *movement* sums $-w\,\partial\mathcal{L}/\partial w$
over plain gradient steps of rate 0.001 (Sanh et al. 2020); the columns are the mean over a matrix's weights.

**Without labels** the loss is the entropy of the model's own output: cross-entropy with that output has gradient 0 as long as
nothing is gone. A pretrained model is asked what it was trained for: masked tokens, next tokens, replaced tokens.

**ALBERT** has one layer for all depths, so a head is one head: its gate stands at every depth, its gradient is the sum of
theirs, and pruning it takes it from all depths at once.
"""


def build_importance(subject: Subject, tab: gr.Tab) -> Callable[..., Any]:
    """Lay out and wire the tab; returns what adds triggers that draw it."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=250):
            start, stop = start_stop("Measure importance", "measure-importance")
            unit = gr.Radio(UNITS, value="head", label="Of what")
            score = gr.Dropdown(_scores("head"), value="gradient", label="Score", filterable=False)
            buttons = tries("neurons", "whole layers", "per layer", "weights by magnitude")
        with gr.Column(scale=2, min_width=320):
            said = rich_text(elem_classes=["said"], elem_id="importance-said")
            shown = bar()
            heatmap = plot("importance", elem_id="importance-heatmap")
            with gr.Row(elem_classes=["two-figures"]):
                curve = plot("importance-sorted", elem_id="importance-sorted")
                histogram = plot("importance-histogram", elem_id="importance-histogram")
    panel = folds(IMPORTANCE.name)
    with gr.Accordion("Why: gates, and where the formula comes from", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)

    stream = Live(
        subject, IMPORTANCE, {"unit": unit, "score": score}, [said, heatmap, curve, histogram], _show, _share, panel,
        start, stop, shown, importance_figures.page_table,
    )  # fmt: skip
    fitted = unit.input(
        lambda chosen: gr.update(choices=_scores(chosen), value=SCORES_OF[chosen][0]), [unit], [score], **PRIVATE
    )
    moves = [
        setting(button, [unit, score], one, gr.update(choices=_scores(one), value=way))
        for button, (one, way) in zip(
            buttons,
            (("neuron", "gradient"), ("layer", "gradient"), ("head", "normalised"), ("weight", "magnitude")),
            strict=True,
        )
    ]
    stream.on(start.click, fitted.then, score.input, *moves)
    return stream.on


SCORES_OF = {unit: [score for score, units in SCORES.items() if unit in units] for _, unit in UNITS}


def _scores(unit: str) -> list[tuple[str, str]]:
    return [(TITLES[score], score) for score in SCORES_OF[unit]]


def _share(result: ImportanceResult) -> float:
    return result.count / result.total


def _show(result: ImportanceResult) -> list[Any]:
    return [
        str(importance_figures.importance_sentence(result)),
        importance_figures.importance_figure(result),
        importance_figures.sorted_figure(result),
        importance_figures.histogram_figure(result),
    ]
