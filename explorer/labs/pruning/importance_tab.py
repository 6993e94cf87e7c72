"""What matters: the importance of every head, neuron, layer or weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.labs.pruning import IMPORTANCE, importance_figures
from explorer.labs.pruning.bench import Live, Subject, fit, score_box, unit_and_score
from explorer.labs.pruning.params import ImportanceParams
from explorer.labs.pruning.schema import ImportanceResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import Tries, asks, bench, live_view_of, shows, start_stop, why
from explorer.ui.wiring import LATEX, folds

FORMULA = r"$I = \mathbb{E}_x\left|\,\partial \mathcal{L}(x) / \partial \xi\,\right|$, each part's gate $\xi$ at 1"
TRY: dict[str, dict[str, Any]] = {
    "neurons": unit_and_score("neuron"),
    "whole layers": unit_and_score("layer"),
    "weights by magnitude": unit_and_score("weight", "magnitude"),
    "64 examples": {"examples": 64},
}
HINT = '<p class="caption">Press a cell to take that head away, and again to bring it back.</p>'

WHY = r"""
A gate $\xi$ multiplies what a part passes on; at 1 the model is as it was. The importance of the part is how much the loss
would change with its gate, on average over examples:

$$I = \mathbb{E}_x\left|\frac{\partial \mathcal{L}(x)}{\partial \xi}\right|$$

(Michel, Levy and Neubig 2019, section 4.1.) The absolute value is taken for each example, for gradients of different sign would
cancel. Every example has gates of its own here, so **one** forward and backward pass of a batch gives every gate's gradient for
every example. A whole layer's gate is on what it adds, $h + \xi\,(\text{layer}(h) - h)$. A gate on a single weight gives
$|w\,\partial\mathcal{L}/\partial w|$, here the mean over batches of 16; *movement* sums $-w\,\partial\mathcal{L}/\partial w$
over plain gradient steps of rate 0.001 (Sanh et al. 2020); the columns are the mean over a matrix's weights.

**Enough examples**: the order from some of them is set against that from the others, by rank correlation $\rho$; from 0.9 on we
call them enough. Where they are not, Spearman and Brown's formula (1910) for $k$ times as many,
$\rho_k = k\rho / (1 + (k-1)\rho)$, tells how many would be.

**Without labels** TextPruner names the KL divergence from the model's own output (*self-supervised*; Yang et al. 2022). Here the
loss is the entropy of that output instead: KL and cross-entropy with it have gradient 0 as long as
nothing is gone. A pretrained model is asked what it was trained for: masked tokens, next tokens, replaced tokens.

**ALBERT** has one layer for all depths, so a head is one head: its gate stands at every depth, its gradient is the sum of
theirs, and pruning it takes it from all depths at once.
"""


@dataclass(frozen=True)
class Pressed:
    """What a press on a head's cell needs. said: the place for what the model is worth without the pressed heads."""

    heatmap: gr.HTML
    unit: gr.Radio
    said: gr.HTML


def build_importance(subject: Subject, tab: gr.Tab) -> tuple[Callable[..., Any], Pressed]:
    """Returns what adds triggers that draw it, and what a press on its heatmap needs."""
    with bench():
        with asks(250):
            start, stop = start_stop("Measure importance", "measure-importance")
            unit = control(ImportanceParams, "unit")
            score = score_box("head")
            gr.Markdown(FORMULA, latex_delimiters=LATEX, elem_classes=["prune-formula"])
            asked = rich_text(elem_classes=["measures"], elem_id="importance-asked")
            tries = Tries(TRY)
        with shows():
            said, shown, heatmap = live_view_of("importance", said="importance-said", figure="importance-heatmap")
            pressed = rich_text(HINT, elem_classes=["measures"], elem_id="pressed-said")
            with gr.Row(elem_classes=["two-figures"]):
                curve = plot("importance-sorted", elem_id="importance-sorted")
                histogram = plot("importance-histogram", elem_id="importance-histogram")
    why("gates and the formula", WHY)
    panel = folds(IMPORTANCE, shortened=True)

    stream = Live(
        subject, IMPORTANCE, {"unit": unit, "score": score}, [said, heatmap, curve, histogram, asked], _show, _share, panel,
        start, stop, shown, importance_figures.page_table,
    )  # fmt: skip
    moves = tries.into({"unit": unit, "score": score, "examples": subject.examples})
    stream.on(start.click, fit(unit, score), score.input, *moves)
    return stream.opens, Pressed(heatmap, unit, pressed)


def _share(result: ImportanceResult) -> float:
    return result.count / result.total


def _show(result: ImportanceResult) -> list[Any]:
    return [
        str(importance_figures.importance_sentence(result)),
        importance_figures.importance_figure(result),
        importance_figures.sorted_figure(result),
        importance_figures.histogram_figure(result),
        str(importance_figures.asked_note(result)),
    ]
