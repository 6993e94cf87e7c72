"""The masking page: fill masks, score sentences, and corrupt a text as pretraining does."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking import swap
from explorer.labs.masking.corrupt_page import build_corrupt
from explorer.labs.masking.fill_page import build_fill
from explorer.labs.masking.rate_page import build_rate
from explorer.labs.masking.score_page import build_score
from explorer.labs.masking.several_page import build_several
from explorer.ui.page import Page
from explorer.ui.tabs import build_tab


def build(page: Page) -> None:
    """Lay out six tabs: one blank, several, one in two sentences, what is likely, how it was taught, how much is
    hidden.
    """
    with gr.Tabs():
        with gr.Tab("Fill the blank", id="fill"):
            build_fill(page)
        with gr.Tab("Several blanks", id="several") as several:
            build_several(page, several)
        build_tab(page, swap.TAB)
        with gr.Tab("How likely?", id="score") as score:
            build_score(page, score)
        with gr.Tab("Why 80, 10, 10", id="corrupt") as corrupt:
            build_corrupt(page, corrupt)
        with gr.Tab("Why 15%", id="rate") as rate:
            build_rate(page, rate)
