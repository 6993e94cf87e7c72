"""The generation page: a text continued, and texts judged."""

from __future__ import annotations

import gradio as gr

from explorer.labs.generation.adapt_page import build_adapt
from explorer.labs.generation.continued_page import build_continued
from explorer.labs.generation.meaning_page import build_meaning
from explorer.labs.generation.scores_page import build_parts, build_scores
from explorer.tasks.task import WRITTEN
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def build(page: Page) -> None:
    """Lay out a tab a question; the run is the meanings'."""
    with gr.Tabs():
        with gr.Tab("Continue a text", id="continue") as tab:
            build_continued(page, tab)
        with gr.Tab("A meaning in words", id="meaning") as meaning:
            picker = RunPicker(page, accept=lambda record: record.kind == WRITTEN, needs="runs that write texts")
            build_meaning(page, meaning, picker)
        with gr.Tab("Adapt GPT-2", id="adapt") as adapting:
            build_adapt(page, adapting, picker)
        with gr.Tab("Scores", id="scores") as tab:
            texts = build_scores(page, tab)
        with gr.Tab("One sentence's scores", id="parts") as tab:
            build_parts(page, tab, texts)
    picker.wire()  # when every tab has its events
