"""The pretraining page: one row as BERT read it."""

from __future__ import annotations

import gradio as gr

from explorer.labs.pretrain.row.page import build_row
from explorer.ui.page import Page


def build(page: Page) -> None:
    """A tab for each step from a row to a model."""
    with gr.Tabs(), gr.Tab("One row", id="row") as tab:
        build_row(page, tab)
