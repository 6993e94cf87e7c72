"""Positions: how alike the rows of the position table are."""

from __future__ import annotations

import gradio as gr

from explorer.labs.inputs import POSITION_SIMILARITY
from explorer.labs.inputs import positions_figures as figures
from explorer.labs.inputs.embeddings import PositionsParams
from explorer.ui.controls import control
from explorer.ui.kit import View, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
BERT's positions are a table that is learned like the words. Nothing tells the model that place 7 is beside place 8; that the
two vectors end up alike is learned, because what stands near is useful for guessing a masked word. BERT learns places beyond
128 in the last tenth of its steps only (appendix A.2); RoBERTa trains at full length throughout. Shown is $\cos(P_i, P_j) = P_i
\cdot P_j / (\lVert P_i \rVert \lVert P_j \rVert)$. Place 0 is always [CLS] and has a vector of its own. (Devlin et al. 2019,
section 3; Wang and Chen 2020 measure this for several models.)
"""


def build_positions(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: the step between positions; how alike the rows are."""
    with slim():
        with inputs_column(250):
            step = control(PositionsParams, "step")
        with outputs_column():
            ids = (None, "positions-figure")
            view = View(
                *("position-similarity", ids, figures.positions_sentence, figures.positions_figure),
                notes=figures.positions_notes,
            )
    why("the formula and the papers", WHY)
    compare = Connection(page, POSITION_SIMILARITY, {"step": step}, view)
    compare.on(step.input, tab.select, *page.changed)
