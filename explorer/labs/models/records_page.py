"""What was measured of the bundled models."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import HELD_OUT, TUNED
from explorer.labs.models import records_figures as figures
from explorer.labs.models.schema import BUNDLED, ScoresParams
from explorer.labs.models.tuned import tuned_figure, tuned_notes, tuned_sentence
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

YARDSTICK = (
    "All of them fine-tuned in full on the same examples, each with three seeds: open marks are seeds, full ones their means, "
    "bars one standard deviation, the dotted line is guessing."
)


def build_scores(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: what all models are asked alike, then held-out figures, by one command on one text."""
    yardstick = View("tuned-scores", "tuned", tuned_sentence, tuned_figure)
    caption(YARDSTICK)
    noted = rich_text(elem_id="tuned-notes")
    Connection(page, TUNED, {}, [*yardstick, (noted, tuned_notes)]).on(tab.select)
    with two_columns():
        with inputs_column(250):
            models = control(ScoresParams, "models", value=list(BUNDLED))
            kinds = [(said, name) for name, (said, _) in figures.KINDS.items()]
            kind = gr.Radio(kinds, value="masks", label="Measured on")
        with outputs_column():
            view = View(
                *("held-out-scores", "scores", figures.scores_sentence, figures.scores_figure),
                notes=figures.scores_notes,
            )
    with gr.Accordion("Every figure, with the command that measures it again", open=False):
        everything = rich_text(elem_id="scores-all")
    shown = [*view, (everything, figures.scores_view)]
    scores = Connection(page, HELD_OUT, {"models": models}, shown, views={"kind": kind})
    scores.on(tab.select, models.input, kind.input)
