"""What was measured of the bundled models, and how their training went."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.models import CURVES, HELD_OUT, score_figures
from explorer.labs.models.schema import BUNDLED, CurvesParams, CurvesResult, ScoresParams, ScoresResult
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import asks, bench, caption, shows, view_of
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds


def build_scores(page: Page, tab: gr.Tab) -> None:
    """Held-out figures, all of them by one command on one text."""
    with bench():
        with asks(250):
            models = control(ScoresParams, "models", value=list(BUNDLED))
            kinds = [(said, name) for name, (said, _) in score_figures.KINDS.items()]
            kind = gr.Radio(kinds, value="masks", label="Measured on")
        with shows():
            said, figure = view_of("held-out-scores", "scores")
    with gr.Accordion("Every figure, with the command that measures it again", open=False):
        everything = rich_text(elem_id="scores-all")

    def show(result: ScoresResult, kind: str = "masks") -> list[Any]:
        sentence = score_figures.scores_sentence(result, kind)
        return [str(sentence), score_figures.scores_figure(result, kind), str(score_figures.scores_view(result))]

    scores = Connection(
        page,
        HELD_OUT,
        {"models": models},
        [said, figure, everything],
        show,
        folds(HELD_OUT),
        views={"kind": kind},
    )
    scores.on(tab.select, models.input, kind.input)


def build_curves(page: Page, tab: gr.Tab) -> None:
    """The logs that are committed with the models."""
    with bench():
        with asks(250):
            models = control(CurvesParams, "models", value=list(BUNDLED))
            named = [(said, name) for name, said in score_figures.QUANTITIES.items()]
            quantity = gr.Dropdown(named, value="mlm_loss", label="Quantity", filterable=False)
            ways = [(said, name) for name, said in score_figures.AGAINST.items()]
            against = gr.Radio(ways, value="tokens", label="Against")
        with shows():
            said, figure = view_of("training-curves", "curves")
            caption(
                "On training text, as logged; means over short stretches. The losses of models with "
                "different vocabularies, or with different shares of masked tokens, are not one scale."
            )

    def show(result: CurvesResult, quantity: str = "mlm_loss", against: str = "tokens") -> list[Any]:
        sentence = score_figures.curves_sentence(result, quantity)
        return [str(sentence), score_figures.curves_figure(result, quantity, against)]

    curves = Connection(
        page,
        CURVES,
        {"models": models},
        [said, figure],
        show,
        folds(CURVES),
        views={"quantity": quantity, "against": against},
    )
    curves.on(tab.select, models.input, quantity.input, against.input)
