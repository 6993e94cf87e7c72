"""What matters: the importance of every head, neuron, layer or weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.labs.pruning import IMPORTANCE
from explorer.labs.pruning import importance_figures as figures
from explorer.labs.pruning.controls import Live, Subject, fit, score_box, unit_and_score
from explorer.labs.pruning.params import ImportanceParams
from explorer.labs.pruning.schema import ImportanceResult
from explorer.maths.importance import SCORES
from explorer.ui.components import LATEX, plot, rich_text
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, start_stop, two_columns, why
from explorer.ui.outputs import Output
from explorer.ui.wiring import folds

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
every example. A whole layer's gate is on what it adds, $h + \xi\,(\text{layer}(h) - h)$.

**By which score**: {scores}. Of single weights, the columns are the mean over a matrix.

**Enough examples**: the order from some of them is set against that from the others, by rank correlation $\rho$; from 0.9 on we
call them enough. Where they are not, Spearman and Brown's formula (1910) for $k$ times as many,
$\rho_k = k\rho / (1 + (k-1)\rho)$, tells how many would be.

**Without labels** TextPruner names the KL divergence from the model's own output (*self-supervised*; Yang et al. 2022). Here the
loss is the entropy of that output instead: KL and cross-entropy with it have gradient 0 as long as
nothing is gone. A pretrained model is asked what it was trained for: masked tokens, next tokens, replaced tokens.

**ALBERT** has one layer for all depths, so a head is one head: its gate stands at every depth, its gradient is the sum of
theirs, and pruning it takes it from all depths at once.
""".replace("{scores}", "; ".join(score.explanation for score in SCORES.values()))


@dataclass(frozen=True)
class Pressed:
    """What a press on a head's cell needs. said: the place for what the model is worth without the pressed heads."""

    heatmap: gr.HTML
    unit: gr.Radio
    said: gr.HTML


def build_importance(subject: Subject, tab: gr.Tab, triggers: list[Callable[..., Any]]) -> Pressed:
    """Fill and wire the tab. Return what a press on the heatmap needs.

    triggers: after which something else is to be pruned.
    """
    with two_columns():
        with inputs_column(250):
            buttons = start_stop("Measure importance", "measure-importance")
            unit = control(ImportanceParams, "unit", elem_id="importance-unit")
            score = score_box()
            gr.Markdown(FORMULA, latex_delimiters=LATEX, elem_classes=["prune-formula"])
            asked = rich_text(elem_classes=["measures"], elem_id="importance-asked")
            tries = Tries(TRY)
        with outputs_column():
            ids = ("importance-said", "importance-heatmap")
            view = View(
                *("importance", ids, figures.importance_sentence, figures.importance_figure),
                bar=True,
                notes=figures.importance_notes,
            )
            pressed = rich_text(HINT, elem_classes=["measures"], elem_id="pressed-said")
            with gr.Row(elem_classes=["two-figures"]):
                curve = plot("importance-sorted", elem_id="importance-sorted")
                histogram = plot("importance-histogram", elem_id="importance-histogram")
    why("gates and the formula", WHY)
    said, figure, notes = view
    more: list[Output] = [
        (curve, figures.sorted_figure),
        (histogram, figures.histogram_figure),
        (asked, figures.asked_note),
    ]
    shown = [said, figure, *more, notes]
    inputs, panel = {"unit": unit, "score": score}, folds(IMPORTANCE, shortened=True)

    def share(result: ImportanceResult) -> float:
        return result.count / result.total

    table = figures.page_table
    stream = Live(subject, IMPORTANCE, inputs, shown, share, buttons, view.bar, panel, page_table=table)
    moves = tries.into({**inputs, "examples": subject.examples})
    stream.on(stream.start.click, fit(subject.page, unit, score), score.input, *moves)
    stream.opens(*subject.in_view(tab, *triggers))
    return Pressed(view.figure, unit, pressed)
