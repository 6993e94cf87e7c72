"""The ΔW page: W's spectrum beside its own, how it grew, the directions that runs share, and what it amplifies."""

from __future__ import annotations

import gradio as gr

from explorer.labs.delta.amplification_page import build_amplification
from explorer.labs.delta.controls import Settled, stay_within
from explorer.labs.delta.directions_page import build_compare
from explorer.labs.delta.forgetting_page import build_forgetting
from explorer.labs.delta.intruders_page import build_intruders
from explorer.labs.delta.layers_page import build_layers
from explorer.labs.delta.spectrum_page import build_spectrum
from explorer.labs.delta.sweep_page import build_sweep
from explorer.labs.delta.weight_page import build_weight
from explorer.tasks.task import WRITTEN
from explorer.tuning.methods import find_method
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def build(page: Page) -> None:
    """Lay out one choice of a run above, and a tab for each question."""
    picker = RunPicker(
        page,
        accept=lambda record: find_method(record.spec.method).changes_matrices,
        needs="runs that change weight matrices",
        opens=lambda record: (
            record.kind != WRITTEN
        ),  # a BERT's: the comparisons and the text of the page are about these
    )
    settled = Settled()
    with gr.Tabs():
        with gr.Tab("Beside W", id="weight") as weight:
            whole = build_weight(page, picker, weight, settled)
        with gr.Tab("Spectrum", id="spectrum") as spectrum:
            build_spectrum(page, picker, spectrum, settled)
        with gr.Tab("Compare two runs", id="compare") as compare:
            other, places = build_compare(page, picker, compare, settled)
        with gr.Tab("Amplification", id="amplification") as amplification:
            more = build_amplification(page, picker, amplification, settled)
        with gr.Tab("All layers", id="layers") as layers:
            second, modules = build_layers(page, picker, layers, settled)
        with gr.Tab("Intruders", id="intruders") as intruders:
            third, matrix = build_intruders(page, picker, intruders, settled)
        with gr.Tab("Forgetting", id="forgetting") as forgetting:
            build_forgetting(page, picker, forgetting)
        with gr.Tab(
            "Rank sweep", id="sweep", visible=False
        ) as sweep:  # scripts' endpoint: Fine-tune sweeps the rank, with seeds
            build_sweep(page, picker, sweep)
    # At the end, when every tab has made its places.
    stay_within(picker, [*whole, *matrix, *places, *more, *modules], settled)
    picker.wire(other, second, third)
