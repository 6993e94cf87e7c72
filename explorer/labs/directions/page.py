"""The directions page: one blank, fifty sentences, why not the next word, and the three kinds of stack."""

from __future__ import annotations

import gradio as gr

from explorer.labs.directions.answer_page import build_answer
from explorer.labs.directions.blank_page import build_blank
from explorer.labs.directions.fifty_page import build_fifty
from explorer.labs.directions.figures import stacks
from explorer.ui.components import rich_text
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out four tabs, the last a drawing."""
    with gr.Tabs():
        with gr.Tab("One blank", id="blank"):
            build_blank(page)
        with gr.Tab("Fifty sentences", id="fifty") as fifty:
            build_fifty(page, fifty)
        with gr.Tab("Why not the next word?", id="answer") as answer:
            build_answer(page, answer)
        with gr.Tab("Encoder, decoder, both", id="stacks"):
            rich_text(str(stacks()), elem_id="stacks")
