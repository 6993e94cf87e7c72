"""The pretraining page: one row as BERT read it, and a model from nothing."""

from __future__ import annotations

import gradio as gr

from explorer.labs.pretrain.row_page import build_row
from explorer.labs.pretrain.train_page import build_train
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out a tab for each step from a row to a model."""
    with gr.Tabs():
        with gr.Tab("One row", id="row") as row:
            build_row(page, row)
        with gr.Tab("From nothing", id="train") as train:
            build_train(page, train)
