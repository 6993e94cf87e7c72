"""Fifty sentences, read beforehand, or ten at a time when the button is pressed."""

from __future__ import annotations

import gradio as gr

from explorer.labs.directions import FIFTY
from explorer.labs.directions import fifty_figures as figures
from explorer.ui.kit import View, caption, inputs_column, outputs_column, start_or_stop, start_stop, two_columns, why
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.streams import Stream

WHY = r"""
The sentences were written for this page: in twenty the clue stands after the blank, in twenty before it, in ten on both sides.
They are sentences that a small model can know something of, and it does not know all of them. The **geometric mean** of $n$
probabilities, $\exp\bigl(\tfrac{1}{n}\sum \ln p\bigr)$, is the mean of the losses $-\ln p$ turned back into a probability.

That both sides win is no merit of the direction alone: a reader of both has more to go by, and bert-small has never been asked to
do with less. What a reader of one side can do when it is trained for it is shown by gpt2-mini, a much smaller model.
"""


def build_fifty(page: Page, tab: gr.Tab) -> None:
    """Lay out a chart that fills as the sentences are read."""
    with two_columns():
        with inputs_column(220):
            start, stop = start_stop("Read all fifty", "fifty-start")
            caption(
                "Each column is a sentence: rest on a mark to read it. Higher is surer. Triangles point the way in which the "
                "reader goes. Values below the scale are drawn on its lowest line."
            )
        with outputs_column(3):
            view = View(
                *("fifty-sentences", "fifty", figures.fifty_sentence, figures.fifty_figure, figures.fifty_bar),
                notes=figures.fifty_notes,
            )
    why("how they were chosen, and the mean", WHY)
    buttons: Output = ([start, stop], lambda result: start_or_stop(len(result.told) < result.total))

    stream = Stream(page, FIFTY, {}, view, steered=[buttons])
    stream.opens(tab.select, note=view.bar, start=str(start.value), asked=[start.click])
    stream.on(start.click)
    stream.stops(start, stop, view.bar)
