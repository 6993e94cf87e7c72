"""Latency, below the comparison: what is timed at the left, the bars at the right."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import latency as figures
from explorer.labs.finetune.latency import LATENCY, ROUNDS, LatencyParams
from explorer.ui.components import apart, is_open, rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
An update that is folded into the weights, $W' = W + \frac{\alpha}{r} B A$, costs nothing afterwards. Adapters are more layers,
one after the other, so they cost most where the machine has little to do at once: a single short text. Virtual tokens make every
text longer: **prefix-layer** adds keys and values that each token attends to, **prefix-embedding** tokens that go through all
layers. An attached LoRA adds two thin products to each matrix.

A machine is never quiet, so all methods take turns: a round has one call of each, the next round begins with another one, and
every time is compared with the plain model's in the same round. The interval is a bootstrap's, of the median over the rounds;
where it holds 1, nothing was measured. (Hu et al. 2021, LoRA, section 3 and Table 1)
"""


def build_latency(page: Page, tab: gr.Tab, methods: gr.CheckboxGroup) -> None:
    """Fill and wire this part of the tab. methods: chosen above.

    It opens with what was timed beforehand, and times anything else only once that is asked for.
    """
    gr.HTML("<h2>Time of a batch</h2>")
    with two_columns():
        with inputs_column():
            inputs = {"methods": methods, **controls(LatencyParams, "batch", "length", repeats=ROUNDS)}
            time = gr.Button("Time the methods", elem_id="latency")
            caption(
                "The methods chosen above as they start, with their usual sizes: the time depends on the shapes alone."
            )
        with outputs_column():
            view = View("latency", "latency", figures.latency_sentence, figures.latency_figure, bar=True)
            missing = rich_text(elem_id="latency-missing")
    caption("What LoRA's authors measured on GPT-2 medium (Table 1) is above, in the fold of the paper's tables.")
    why("what a method costs at every call", WHY)
    timed = Connection(page, LATENCY, inputs, [*view, (missing, figures.missing_list)])
    timed.opens(
        tab.select,
        apart(*page.changed, where=is_open(tab)),
        note=view.bar,
        start=str(time.value),
        asked=[time.click],
        last=gr.JSON(visible=False),
    )
    timed.on(time.click)
