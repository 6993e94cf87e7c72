"""The pruning page: prune and see, what matters, take out, step by step, fewer bits."""

from __future__ import annotations

import gradio as gr

from explorer.labs.pruning.controls import Subject
from explorer.labs.pruning.importance_page import build_importance
from explorer.labs.pruning.orders_page import build_orders
from explorer.labs.pruning.quantised_page import build_quantised
from explorer.labs.pruning.remove_page import build_remove, build_steps
from explorer.ui.page import Page


def build(page: Page) -> None:
    """Lay out what is pruned above, and a tab for each thing to do with it below."""
    subject = Subject(page)
    triggers = subject.wire()
    opened = triggers[0]
    with gr.Tabs():
        # The first tab, filled once the heatmap that it listens to is there.
        orders = gr.Tab("Prune and see", id="orders")
        with gr.Tab("What matters", id="importance") as matters:
            pressed = build_importance(subject, matters, triggers)
        with orders:
            build_orders(subject, orders, pressed, triggers)
        with gr.Tab("Take out", id="remove") as remove:
            build_remove(subject, remove, opened)
        with gr.Tab("Step by step", id="steps") as steps:
            build_steps(subject, steps, opened)
        with gr.Tab("Fewer bits", id="quantise") as quantise:
            build_quantised(subject, quantise, opened)
