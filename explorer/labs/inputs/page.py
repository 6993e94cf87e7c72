"""The inputs page: a text in pieces, one word cut step by step, the sum of the embeddings, the positions, typos."""

from __future__ import annotations

import gradio as gr

from explorer.labs.inputs.cut_page import build_cut
from explorer.labs.inputs.embeddings_page import build_sum
from explorer.labs.inputs.pieces_page import build_pieces
from explorer.labs.inputs.positions_page import build_positions
from explorer.labs.inputs.relative_page import build_relative
from explorer.labs.inputs.typos_page import build_many, build_typos
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out six tabs; the choice of tokenizers is the same in the first two."""
    with gr.Tabs() as tabs:
        with gr.Tab("Pieces", id="pieces"):
            tokenizers, pieces = build_pieces(page)
        with gr.Tab("One word, step by step", id="cut") as tab:
            build_cut(page, tab, tabs, tokenizers, pieces)
        with gr.Tab("The sum", id="sum") as sum_tab:
            build_sum(page, sum_tab)
        with gr.Tab("Positions", id="positions") as positions_tab:
            build_positions(page, positions_tab)
            build_relative(page, positions_tab)
        with gr.Tab("Typos", id="typos") as typos_tab:
            build_typos(page, typos_tab)
        with gr.Tab("Typos, many sentences", id="many") as many_tab:
            build_many(page, many_tab)
