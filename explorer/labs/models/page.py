"""The family's page: what each changed, what it scores, how it was trained, and sizes to change."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models import curves, movement, recipe
from explorer.labs.models.family_page import build_cards, build_family
from explorer.labs.models.records_page import build_scores
from explorer.labs.models.sizes_page import build_sizes
from explorer.ui.page import Page
from explorer.ui.tabs import build_tab


def build(page: Page) -> None:
    """Lay out seven tabs."""
    with gr.Tabs():
        with gr.Tab("Changes", id="family"):
            build_cards()
        with gr.Tab("Side by side", id="bars") as bars:
            build_family(page, bars)
        with gr.Tab("Scores", id="scores") as scores_tab:
            build_scores(page, scores_tab)
        build_tab(page, curves.TAB)
        with gr.Tab("Parameters", id="sizes") as sizes_tab:
            build_sizes(page, sizes_tab)
        build_tab(page, recipe.TAB)
        build_tab(page, movement.TAB)
