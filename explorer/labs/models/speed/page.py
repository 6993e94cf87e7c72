"""Does sharing save time? Measured beforehand, and here when a visitor asks."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import SPEED
from explorer.labs.models.speed import figures
from explorer.labs.models.speed.schema import SpeedParams
from explorer.ui.components import rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import asks, bar_place, bench, caption, sentence_place, shows, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A layer that is shared is stored once and still runs at every depth, so a forward pass multiplies as often as before. What may be
saved is traffic: one layer's weights may stay in the processor's cache, and a training step has fewer of them to update. The
weights here are random, since time doesn't depend on their values. ALBERT's Table 2 gives the throughput of data in training
beside BERT-large's: an ALBERT is quicker than the BERT of its size there, where many machines also have fewer gradients to send
each other, and ALBERT-xxlarge, four times as wide as BERT-large, is slower for all its few parameters. (Lan et al. 2020)
"""


def build_speed(page: Page, tab: gr.Tab) -> None:
    """Two small models."""
    gr.HTML("<h2>Does sharing save time?</h2>")
    with bench():
        with asks():
            sizes = controls(SpeedParams, "layers", "hidden_size")
            button = gr.Button("Measure here", variant="primary", elem_id="speed-start")
        with shows():
            said = sentence_place("speed-said")
            note = bar_place("speed-note")
            table = rich_text(elem_id="speed-table", elem_classes=["wide"])
            caption(
                "Random weights (time doesn't depend on the values), one text of 64 tokens; the two models take turns, so "
                "that what else the machine does falls on both."
            )
    why("the same multiplications", WHY)
    speed = Connection(page, SPEED, sizes, [(said, figures.speed_sentence), (table, figures.speed_rows)])
    speed.opens(tab.select, note=note, start=str(button.value), asked=[button.click])
    speed.on(button.click)
