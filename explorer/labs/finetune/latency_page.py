"""Time of a batch: what is timed at the left, the bars at the right."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import latency as figures
from explorer.labs.finetune.latency import LATENCY, ROUNDS, LatencyParams
from explorer.labs.finetune.schema import CompareParams
from explorer.published import lora_tables
from explorer.tuning.methods import METHODS
from explorer.ui.components import apart, is_open, rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import (
    View,
    caption,
    in_the_paper,
    inputs_column,
    outputs_column,
    start_or_stop,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.streams import Stream

WHY = r"""
An update that is folded into the weights, $W' = W + \frac{\alpha}{r} B A$, costs nothing afterwards. Adapters are more layers,
one after the other, so they cost most where the machine has little to do at once: a single short text. Virtual tokens make every
text longer: **prefix-layer** adds keys and values that each token attends to, **prefix-embedding** tokens that go through all
layers. An attached LoRA adds two thin products to each matrix.

A machine is never quiet, so all methods take turns: a round has one call of each, the next round begins with another one, and
every time is compared with the plain model's in the same round. The interval is a bootstrap's, of the median over the rounds;
where it holds 1, nothing was measured. (Hu et al. 2021, LoRA, section 3 and Table 1)
"""


def build_latency(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab. It opens with what was timed beforehand, and times anything else only once that is asked for."""
    with two_columns():
        with inputs_column():
            start, stop = start_stop("Time the methods", "latency")
            named = [(method.title, method.slug) for method in METHODS]
            methods = control(CompareParams, "methods", choices=named, value=[slug for _, slug in named])
            inputs = {"methods": methods, **controls(LatencyParams, "batch", "length", repeats=ROUNDS)}
            caption("The methods as they start, with their usual sizes: the time depends on the shapes alone.")
        with outputs_column():
            view = View("latency", "latency", figures.latency_sentence, figures.latency_figure, bar=figures.latency_bar)
            missing = rich_text(elem_id="latency-missing")
    why("what a method costs at every call", WHY)
    in_the_paper("LoRA's Table 1", lora_tables.latency())
    steered = [([start, stop], lambda result: start_or_stop(not result.is_done))]
    stream = Stream(page, LATENCY, inputs, [*view, (missing, figures.missing_list)], steered=steered)
    stream.opens(
        tab.select,
        apart(*page.changed, where=is_open(tab)),
        note=view.bar,
        start=str(start.value),
        asked=[start.click],
        last=gr.JSON(visible=False),
    )
    stream.stops(start, stop, view.bar, str(figures.STOPPED))
    stream.on(start.click, at_once=True)
