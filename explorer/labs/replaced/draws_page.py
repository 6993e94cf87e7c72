"""Many draws of one text: the ROC curve, with Stop while it grows."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.labs.replaced import REPLACED_DRAWS
from explorer.labs.replaced import draws_figures as figures
from explorer.labs.replaced.schema import TEXT, TEXTS, DrawsParams, DrawsResult
from explorer.models.catalog import bundled
from explorer.models.records import read_scores
from explorer.settings import BUNDLED_MODELS
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, start_or_stop, start_stop, two_columns, why
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.streams import Stream

WHY = r"""
A discriminator gives a number, and where to cut is a choice: a low threshold finds more of the replaced tokens (**hits**) and
takes more original ones for replaced (**false alarms**). The **ROC curve** shows both for every threshold. The area under it,
the **AUC**, needs none: it is the chance that a replaced token, picked at random, scores above an original one; 0.5 is guessing,
1 is perfect. Here it is computed from the ranks of the scores (the Mann–Whitney statistic), over the tokens of all draws
together.
"""


def build_draws(page: Page, model: gr.Textbox, triggers: list[Any]) -> None:
    """Fill and wire the tab: the same text with many seeds."""
    with two_columns():
        with inputs_column():
            inputs = {
                "model": model,
                "text": control(DrawsParams, "text", value=TEXT, elem_id="draws-text"),
                "temperature": control(DrawsParams, "temperature", info=None),
                "seed": control(DrawsParams, "seed", visible=False),  # a client may begin at another
                **controls(DrawsParams, "rate", "draws"),
            }
            start, stop = start_stop("Draw", "draws-start")
        with outputs_column():
            view = View(
                *("roc", "draws", figures.draws_sentence, figures.draws_figure, figures.progress_line),
                notes=figures.draws_notes,
            )
            card = rich_text()
            tries = Tries(TEXTS)
    why("hits, false alarms and the AUC", WHY)

    def measured(result: DrawsResult) -> Markup:
        scores = read_scores(BUNDLED_MODELS / result.model) if result.model in bundled() else None
        return figures.card_line(result.model, scores)

    def buttons(result: DrawsResult) -> list[Any]:
        return start_or_stop(result.draws < result.of)

    shown: list[Output] = [*view, (card, measured)]
    stream = Stream(page, REPLACED_DRAWS, inputs, shown, steered=[([start, stop], buttons)])
    moves = tries.into([inputs["text"]], show_progress="full")
    sliders = [inputs[name].release for name in ("temperature", "rate", "draws")]
    stream.on(start.click, inputs["text"].submit, *sliders, *moves, *triggers)
    stream.stops(start, stop, view.bar)
