"""The context page: one word in several sentences, the head read at each layer, one state carried over, and probes."""

from __future__ import annotations

import gradio as gr

from explorer.labs.context.lens_page import build_lens
from explorer.labs.context.patch_page import build_patch
from explorer.labs.context.probe_page import build_probe
from explorer.labs.context.word_page import build_word
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out four tabs: what becomes of a word, what becomes of the answer, what carries it, and what can be read."""
    with gr.Tabs():
        with gr.Tab("One word, several sentences", id="word"):
            build_word(page)
        with gr.Tab("Logit lens", id="lens") as lens:
            build_lens(page, lens)
        with gr.Tab("Carry over", id="patch") as patch:
            build_patch(page, patch)
        with gr.Tab("Probes", id="probe") as probe:
            build_probe(page, probe)
