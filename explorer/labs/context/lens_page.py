"""Logit lens: the head read at every layer, as a table of tokens and as lines over the depth."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.charts.words import prose
from explorer.labs.context import LOGIT_LENS, lens_figures
from explorer.labs.context.examples import LENS_EXAMPLES, LENS_TRY
from explorer.labs.context.lens import LensParams, LensResult
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Examples, Tries, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A layer adds to the state that it is given and hands it on; all layers have the same width, so the head that stands after the
last one can be put after any of them:

$$p_\ell(v) = \operatorname{softmax}\bigl(\text{head}(h^{(\ell)}_i)\bigr)_v, \qquad \ell = 0, \dots, L$$

with everything that the model has between its last layer and the scores (GPT-2's last LayerNorm, BERT's dense layer). The last
row is the model's own answer. How far a layer's distribution is from it is told by
$\mathrm{KL}(p_L \,\Vert\, p_\ell) = \sum_v p_L(v) \log_2 \frac{p_L(v)}{p_\ell(v)}$, in bits.

**Caution.** The head was trained on the last layer only. That an early layer does not show a word is no proof that the model
does not know it yet: the layer may write it in another basis. The *tuned lens* learns a translation for each layer for that
reason. (nostalgebraist 2020, "interpreting GPT: the logit lens"; Belrose et al. 2023, "Eliciting latent predictions from
transformers with the tuned lens")
"""


def build_lens(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab, which is computed when it comes into view, and anew for another model."""
    _, first_text, first_followed = LENS_EXAMPLES[0]
    with two_columns():
        with inputs_column():
            text = control(LensParams, "text", value=first_text)
            follow = control(LensParams, "follow", value=first_followed)
            top_k = control(LensParams, "top_k")
            button = gr.Button("Read every layer", variant="primary")
            examples = Examples({title: values for title, *values in LENS_EXAMPLES})
            # -1: the place that the result opens with.
            place = gr.Number(-1, precision=0, visible="hidden", label="place")
        with outputs_column():
            chips = token_chips(elem_id="lens-chips")
            said, figure = sentence_place("lens-said"), plot("logit-lens", elem_id="lens-figure")
            noted = rich_text(elem_id="lens-notes")
            tries = Tries({title: values for title, *values in LENS_TRY})
    depth_said, depth = sentence_place(), plot("logit-lens-depth", elem_id="depth-figure")
    why("the formula and the caution", WHY)
    inputs = {"text": text, "top_k": top_k, "follow": follow}
    shown = [([chips, said, figure, noted, depth_said, depth], show)]
    lens = Connection(page, LOGIT_LENS, inputs, shown, views={"place": place})
    lens.on(button.click, text.submit, follow.submit, top_k.change, tab.select, *page.changed)
    boxes = [text, follow]
    lens.on(examples.into(boxes, show_progress="full"), *tries.into(boxes, show_progress="full"))
    moved = chips.select(_pressed, None, [place], **QUIET)
    lens.on(moved.then)


def show(result: LensResult, place: float | None = None) -> list[Any]:
    """Return the outputs' values for one position, or for the opening one if the lens does not look at that.

    A result without a place says why.
    """
    if result.problem:
        return [lens_figures.lens_chips(result, None), str(prose(result.problem)), {}, "", "", {}]
    chosen = result.at(None if place is None else int(place))
    return [
        lens_figures.lens_chips(result, chosen),
        str(lens_figures.lens_sentence(result, chosen)),
        lens_figures.lens_figure(result, chosen),
        str(lens_figures.lens_notes(result, chosen)),
        lens_figures.depth_sentence(chosen),
        lens_figures.depth_figure(result, chosen),
    ]


def _pressed(event: gr.EventData) -> int:
    """Return the place that was pressed; the one that is shown cannot be."""
    return int(event.positions[0])
