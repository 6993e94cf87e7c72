"""A fine-tuned run's class, on a text of the visitor's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.backend.runs.record import RunRecord
from explorer.labs.attribution import ATTRIBUTE_RUN
from explorer.labs.attribution.bench import PRIVATE, Bench
from explorer.labs.attribution.examples import RUN_EXAMPLES, RUN_TRY
from explorer.labs.attribution.params import AttributeRunParams
from explorer.tuning.methods import find_method
from explorer.ui.controls import control
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def can_be_explained(record: RunRecord) -> bool:
    """Whether a run has classes, weights, and no virtual tokens before the text."""
    return bool(record.labels) and record.status.has_weights and not find_method(record.spec.method).has_virtual_tokens


def build_run(page: Page, tab: gr.Tab, explain: Callable[[], None]) -> None:
    """Lay out and wire the tab. explain: lays out the page's Why."""
    bench = Bench("run-attribution")
    picker = RunPicker(page, can_be_explained)
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            first = control(AttributeRunParams, "sentence_a", value=RUN_EXAMPLES[0][0], elem_id="run-attribution-input")
            second = control(AttributeRunParams, "sentence_b")
            bench.lay_out_choices()
        with gr.Column(scale=2, min_width=320):
            bench.lay_out_figures()
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                tries = [gr.Button(name, size="sm") for name in RUN_TRY]
    bench.lay_out_comparison()
    explain()
    inputs = {"run": picker.run, "sentence_a": first, "sentence_b": second, **bench.choices}
    stream = bench.stream(page, ATTRIBUTE_RUN, inputs, picker.visitor)
    tried = [
        button.click(_fixed(example), None, [first, second], **PRIVATE).then
        for button, example in zip(tries, RUN_EXAMPLES, strict=False)
    ]
    picker.wire()
    bench.wire(stream, *bench.triggers, tab.select, first.submit, second.submit, picker.run.input, *tried)


def _fixed(example: tuple[str, str]) -> Any:
    return lambda: example
