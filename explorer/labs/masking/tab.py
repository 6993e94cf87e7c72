"""The masking page: fill masks, and corrupt a text as pretraining does."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking.corrupt_tab import build_corrupt
from explorer.labs.masking.fill_tab import build_fill
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Two tabs: what the model says, and how it was taught."""
    with gr.Tabs():
        with gr.Tab("Fill the blank", id="fill"):
            build_fill(page)
        with gr.Tab("How BERT was trained", id="corrupt") as corrupt:
            build_corrupt(page, corrupt)
