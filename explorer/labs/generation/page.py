"""The generation page: how texts are judged."""

from __future__ import annotations

import gradio as gr

from explorer.labs.generation.scores.page import build_scores
from explorer.ui.page import Page


def build(page: Page) -> None:
    """A tab a question."""
    with gr.Tabs(), gr.Tab("Scores", id="scores") as tab:
        build_scores(page, [page.opened, tab.select])
