"""Positions: how alike the rows of the position table are."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.inputs import POSITION_SIMILARITY, detail_figures
from explorer.labs.inputs.sum_schema import PositionsParams, PositionsResult
from explorer.ui.controls import control
from explorer.ui.kit import asks, bench, shows, view_of, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

WHY = r"""
BERT's positions are a table that is learned like the words. Nothing tells the model that place 7 is beside place 8; that the two
vectors end up alike is learned, because what stands near is useful for guessing a masked word. Shown is
$\cos(P_i, P_j) = P_i \cdot P_j / (\lVert P_i \rVert \lVert P_j \rVert)$. Place 0 is always [CLS] and has a vector of its own.
(Devlin et al. 2019, section 3; Wang and Chen 2020 measure this for several models.)
"""


def build_positions(page: Page, tab: gr.Tab) -> None:
    """The step between positions; how alike the rows are."""
    with bench():
        with asks(250):
            step = control(PositionsParams, "step")
        with shows():
            said, figure = view_of("position-similarity", figure="positions-figure")
    why("the formula and the papers", WHY)

    def show(result: PositionsResult) -> list[Any]:
        return [str(detail_figures.positions_sentence(result)), detail_figures.positions_figure(result)]

    compare = Connection(page, POSITION_SIMILARITY, {"step": step}, [said, figure], show, folds(POSITION_SIMILARITY))
    compare.on(step.input, tab.select, *page.changed)
