"""Positions: how alike the rows of the position table are."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.inputs import POSITION_SIMILARITY, detail_figures
from explorer.labs.inputs.sum_schema import PositionsParams, PositionsResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control
from explorer.ui.page import Page
from explorer.ui.wiring import LATEX, Connection, folds

WHY = r"""
BERT's positions are a table that is learned like the words. Nothing tells the model that place 7 is beside place 8; that the two
vectors end up alike is learned, because what stands near is useful for guessing a masked word. Shown is
$\cos(P_i, P_j) = P_i \cdot P_j / (\lVert P_i \rVert \lVert P_j \rVert)$. Place 0 is always [CLS] and has a vector of its own.
(Devlin et al. 2019, section 3; Wang and Chen 2020 measure this for several models.)
"""


def build_positions(page: Page, tab: gr.Tab) -> None:
    """Lay out and wire the tab."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=250):
            step = control(PositionsParams, "step")
        with gr.Column(scale=2, min_width=320):
            said = rich_text(elem_classes=["said"])
            figure = plot("position-similarity", elem_id="positions-figure")
    with gr.Accordion("Why: the formula and the papers", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)

    def show(result: PositionsResult) -> list[Any]:
        return [str(detail_figures.positions_sentence(result)), detail_figures.positions_figure(result)]

    compare = Connection(page, POSITION_SIMILARITY, {"step": step}, [said, figure], show, folds(POSITION_SIMILARITY))
    compare.on(step.input, tab.select, *page.changed)
