"""The family's page: what each changed, what it scores, how it was trained, and sizes to change."""

from __future__ import annotations

import gradio as gr

from explorer.labs.models.family_tab import build_family
from explorer.labs.models.records_tab import build_curves, build_scores
from explorer.labs.models.sizes_tab import build_sizes
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Four tabs."""
    with gr.Tabs():
        with gr.Tab("What each changed", id="family"):
            build_family(page)
        with gr.Tab("What they score", id="scores") as scores_tab:
            build_scores(page, scores_tab)
        with gr.Tab("How they were trained", id="curves") as curves_tab:
            build_curves(page, curves_tab)
        with gr.Tab("Count the parameters", id="sizes") as sizes_tab:
            build_sizes(page, sizes_tab)
