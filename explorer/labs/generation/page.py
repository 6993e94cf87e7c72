"""The generation page: a text continued."""

from __future__ import annotations

import gradio as gr

from explorer.labs.generation.continued.page import build_continued
from explorer.ui.page import Page


def build(page: Page) -> None:
    """A tab a question."""
    with gr.Tabs(), gr.Tab("Continue a text", id="continue") as tab:
        build_continued(page, tab)
