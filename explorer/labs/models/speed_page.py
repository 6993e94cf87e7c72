"""Do sharing and narrow embeddings save time? Measured beforehand, and here when a visitor asks."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import SPEED
from explorer.labs.models import speed as figures
from explorer.labs.models.speed import SpeedParams
from explorer.ui.components import rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import bar_place, caption, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A layer that is shared is stored once and still runs at every depth, so a forward pass multiplies as often as before. What may be
saved is traffic: one layer's weights may stay in the processor's cache, and a training step has fewer of them to update. Narrow
embeddings are alike: a word's row is looked up and not multiplied, whatever its width, and the map from $E$ to $H$ is one product
more, but a training step has $V E + E H$ numbers to update and not $V H$. The models here have no head; one that guesses words
multiplies each state by the whole table, and that takes $E / H$ of the time. The weights are random, since time doesn't depend on
their values.

ALBERT's Table 2 gives the throughput of data in training beside BERT-large's: an ALBERT is quicker than the BERT of its size
there, where many machines also have fewer gradients to send each other, and ALBERT-xxlarge, four times as wide as BERT-large, is
slower for all its few parameters. (Lan et al. 2020)
"""


def build_speed(page: Page, tab: gr.Tab) -> None:
    """Lay out and wire small models, timed side by side."""
    gr.HTML("<h2>Does it save time?</h2>")
    with two_columns():
        with inputs_column():
            sizes = controls(SpeedParams, "layers", "hidden_size", "embedding_size")
            button = gr.Button("Measure here", variant="primary", elem_id="speed-start")
        with outputs_column():
            said = sentence_place("speed-said")
            note = bar_place("speed-note")
            table = rich_text(elem_id="speed-table", elem_classes=["wide"])
            noted = rich_text(elem_id="speed-notes")
            width = rich_text(elem_id="speed-width")
            caption(
                "Random weights (time doesn't depend on the values), one text of 64 tokens; the models take turns, so "
                "that what else the machine does falls on both."
            )
    why("the same multiplications", WHY)
    shown = [(said, figures.speed_sentence), (table, figures.speed_rows), (width, figures.width_sentence)]
    shown.append((noted, figures.speed_notes))
    speed = Connection(page, SPEED, sizes, shown)
    speed.opens(tab.select, note=note, start=str(button.value), asked=[button.click], last=gr.JSON(visible=False))
    speed.on(button.click)
