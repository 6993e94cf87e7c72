"""A visitor replaces words; the discriminator says of every token whether it was replaced."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.replaced import REPLACED_BY_HAND, figures
from explorer.labs.replaced.chips_figures import hand_chips, hand_legend
from explorer.labs.replaced.schema import BY_HAND, HandParams
from explorer.ui.components import token_chips
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
The discriminator reads the second text alone and has no other to compare with: it goes by what it has learned to expect of
words around each other. It was trained against its own generator, so it knows that generator's mistakes best: a word of the
wrong kind, a broken phrase. A false fact that is good English has hardly ever stood before it. Which tokens count as replaced is
told by comparing the two texts token by token.

The paper's own picture (Clark et al. 2020, Figure 2) has *ate* in the place of *cooked*. In five words nothing says that a chef
cooks: *the chef ate the meal* is good English too, and this small discriminator, as a reader would, has little to suspect it by.
"""


def build_hand(page: Page, model: gr.Textbox, triggers: list[Any]) -> None:
    """Fill and wire the tab: two boxes, the text, and what is shown in its place."""
    text, shown = next(iter(BY_HAND.values()))
    with two_columns():
        with inputs_column():
            boxes = {
                "text": control(HandParams, "text", value=text, elem_id="hand-text"),
                "shown": control(HandParams, "shown", value=shown),
            }
            button = gr.Button("Ask the discriminator", variant="primary")
        with outputs_column():
            chips = token_chips(elem_id="hand-chips")
            view = View(
                *("replaced-by-hand", "hand", figures.hand_sentence, figures.hand_figure), notes=figures.hand_notes
            )
            gr.HTML(str(hand_legend()))
            tries = Tries(BY_HAND)
    why("what it goes by", WHY)
    inputs = {"model": model, **boxes}
    judge = Connection(page, REPLACED_BY_HAND, inputs, [(chips, hand_chips), *view])
    moves = tries.into(list(boxes.values()), show_progress="full")
    judge.on(button.click, *(box.submit for box in boxes.values()), *moves, *triggers)
