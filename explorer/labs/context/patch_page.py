"""Carry over: two sentences that differ in a word, and a grid of what each state of one brings into the other."""

from __future__ import annotations

import gradio as gr

from explorer.labs.context.patch import (
    EXAMPLE,
    PATCH_ACTIVATIONS,
    PatchParams,
    patch_figure,
    patch_notes,
    patch_sentence,
)
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, more, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

TRY = {
    "A pronoun": ("The man said that [MASK] was tired.", "The woman said that [MASK] was tired.", ""),
    "A capital": ("The capital of France is [MASK].", "The capital of Italy is [MASK].", "Paris, Rome"),
    "Agreement": EXAMPLE,
}

WHY = r"""
A heat map of attention shows where a head looks, not what matters. **Activation patching** changes one thing and looks at the
answer: the model reads the first sentence, but at one token of one layer it is given the state that it had in the second. If
the answer follows, the state had in it what tells the two apart. With $d$ for the difference of the two answers' logits,

$$\text{share} = \frac{d_{\text{patched}} - d_{\text{first}}}{d_{\text{second}} - d_{\text{first}}}$$

is 0 where nothing came across and 1 where all did (Vig et al. 2020; Meng et al. 2022, section 2; the difference of logits is
what Zhang and Nanda 2024, section 3, recommend). Carry over all tokens at once and the share is 1; carry over none, 0.

**The noise** is the same step, as long, in a random direction: what a cell has beyond that is due to *where* the state moved,
and not to its being moved. The shares of a row need not add up to 1: what one token has, another may have as well.
"""


def build_patch(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab, which opens with what was computed beforehand."""
    with two_columns():
        with inputs_column():
            base = control(PatchParams, "base", value=EXAMPLE[0])
            source = control(PatchParams, "source", value=EXAMPLE[1])
            answers = control(PatchParams, "answers", value=EXAMPLE[2], lines=1)
            start = gr.Button("Carry over", variant="primary", elem_id="patch-start")
            part = control(PatchParams, "part")
            with more("the noise's seed"):
                seed = control(PatchParams, "seed")
        with outputs_column(3):
            view = View("activation-patching", "patch", patch_sentence, patch_figure, bar=True, notes=patch_notes)
            tries = Tries(TRY)
    why("activation patching and the papers", WHY)
    inputs = {"base": base, "source": source, "part": part, "answers": answers, "seed": seed}
    carried = Connection(page, PATCH_ACTIVATIONS, inputs, view)
    asked = [start.click, base.submit, source.submit, answers.submit, part.input, *tries.into([base, source, answers])]
    carried.opens(
        tab.select,
        while_in_view("#patch-start", *page.changed),
        note=view.bar,
        start=str(start.value),
        asked=asked,
    )
    carried.on(*asked)
