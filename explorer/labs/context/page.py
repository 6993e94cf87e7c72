"""The context page: one word in several sentences, and the head read at each layer."""

from __future__ import annotations

import gradio as gr

from explorer.labs.context.lens.page import build_lens
from explorer.labs.context.word.page import build_word
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out two tabs: what becomes of a word, and what becomes of the answer."""
    with gr.Tabs():
        with gr.Tab("One word, several sentences", id="word"):
            build_word(page)
        with gr.Tab("Logit lens", id="lens") as lens:
            build_lens(page, lens)
