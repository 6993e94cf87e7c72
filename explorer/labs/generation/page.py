"""The generation page: a text continued, and texts judged."""

from __future__ import annotations

import gradio as gr

from explorer.labs.generation.continued.page import build_continued
from explorer.labs.generation.scores.page import build_scores
from explorer.ui.page import Page


def build(page: Page) -> None:
    """A tab a question."""
    with gr.Tabs():
        with gr.Tab("Continue a text", id="continue") as tab:
            build_continued(page, tab)
        with gr.Tab("Scores", id="scores") as tab:
            build_scores(page, [tab.select])
