"""A fine-tuned run's class, on a text of the visitor's shared."""

from __future__ import annotations

from collections.abc import Callable

import gradio as gr

from explorer.labs.attribution import ATTRIBUTE_RUN
from explorer.labs.attribution.controls import Bench
from explorer.labs.attribution.examples import RUN_TRY
from explorer.labs.attribution.params import AttributeRunParams
from explorer.runs.examples import PRAISE
from explorer.runs.record import RunRecord
from explorer.tuning.methods import find_method
from explorer.ui.controls import control
from explorer.ui.kit import Tries, inputs_column, outputs_column, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def can_be_explained(record: RunRecord) -> bool:
    """Return whether a run has classes, weights, and no virtual tokens before the text."""
    return bool(record.labels) and record.status.has_weights and not find_method(record.spec.method).has_virtual_tokens


def build_run(page: Page, tab: gr.Tab, explain: Callable[[], None]) -> None:
    """Fill and wire the tab. explain: lays out the page's Why."""
    shared = Bench("run-attribution")
    picker = RunPicker(page, can_be_explained, needs="runs with classes")
    with two_columns():
        with inputs_column():
            first = control(AttributeRunParams, "sentence_a", value=PRAISE, elem_id="run-attribution-input")
            second = control(AttributeRunParams, "sentence_b")
            shared.lay_out_choices()
        with outputs_column():
            shared.lay_out_figures()
            tries = Tries(RUN_TRY)
    shared.lay_out_comparison()
    explain()
    inputs = {"run": picker.run, "sentence_a": first, "sentence_b": second, **shared.choices}
    stream = shared.stream(page, ATTRIBUTE_RUN, inputs, visitor=picker.visitor)
    tried = tries.into([first, second])
    picker.wire()  # before the events that read the run
    asked = [*shared.triggers, first.submit, second.submit, picker.run.input, *tried]
    stream.opens(tab.select, note=shared.progress, start=str(shared.start.value), asked=asked)
    shared.wire(stream, *asked)
