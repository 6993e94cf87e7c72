"""One word changed: both lists for the same blank, and the difference."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking import SWAP_WORD
from explorer.labs.masking.swap import figures
from explorer.labs.masking.swap.examples import OPENING, TRY
from explorer.labs.masking.swap.schema import SwapParams
from explorer.ui.components import while_in_view
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, View, asks, bench, shows, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
Two sentences that differ in one word are an experiment with a control: whatever changes in the blank is that word's doing, as the
model read it. With $p$ before and $q$ after, $\ln (q/p)$ says how each token fares, and half of $\sum_v |p(v) - q(v)|$ how much
of the probability has moved in all (the total variation distance: 0 for nothing, 1 for everything).

What *man* and *woman* change was learned from the texts that the model read, and it says what those texts say of men and women
rather than what is so. A model that is put to use hands it on.
"""


def build_swap(page: Page, tab: gr.Tab) -> None:
    """One action; computed when it comes into view."""
    with bench():
        with asks():
            inputs = controls(SwapParams, text=OPENING[0], word=OPENING[1], other=OPENING[2])
            button = gr.Button("Compare", variant="primary")
            inputs["top_k"] = control(SwapParams, "top_k")
            tries = Tries(dict(TRY))
        with shows():
            view = View(
                *("one-word-changed", "swap", figures.swap_sentence, figures.swap_figure), notes=figures.swap_notes
            )

    why("one word, and what it does", WHY)
    swap = Connection(page, SWAP_WORD, inputs, view)
    boxes = [inputs[name] for name in ("text", "word", "other")]
    tried = tries.into(boxes, show_progress="full")
    changed = while_in_view("#swap-figure", *page.changed)
    swap.on(button.click, *(box.submit for box in boxes), inputs["top_k"].release, tab.select, changed, *tried)
