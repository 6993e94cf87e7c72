"""The context page: one word in several sentences, the head read at each layer, and one state carried over."""

from __future__ import annotations

import gradio as gr

from explorer.labs.context.lens.page import build_lens
from explorer.labs.context.patch_page import build_patch
from explorer.labs.context.word.page import build_word
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out three tabs: what becomes of a word, what becomes of the answer, and what carries it."""
    with gr.Tabs():
        with gr.Tab("One word, several sentences", id="word"):
            build_word(page)
        with gr.Tab("Logit lens", id="lens") as lens:
            build_lens(page, lens)
        with gr.Tab("Carry over", id="patch") as patch:
            build_patch(page, patch)
