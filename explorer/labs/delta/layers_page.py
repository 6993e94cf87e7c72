"""All layers: how much ΔW amplifies in each, in two runs, or in a pair that is trained for it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import EXPERIMENT, FACTORS
from explorer.labs.delta import amplification_figures as figures
from explorer.labs.delta.controls import Settled
from explorer.labs.delta.live import Experiment
from explorer.labs.delta.params import FactorsParams
from explorer.labs.delta.spectrum_figures import module_name
from explorer.runs.examples import OTHER_RANK
from explorer.tuning.spec import TARGETS
from explorer.ui.controls import control
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.wiring import Connection

OPEN = (
    "An open question after the paper: does full fine-tuning amplify too, or is its update more general? With bert-small the "
    "figure opens with a pair that was trained for it on the same examples, else with the run above beside the one chosen "
    "here. Each is looked at in the first r directions of its own update. Full fine-tuning's weights are as large as the model "
    "and not bundled: a run of it can be chosen once you have trained one."
)


def build_layers(
    page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled
) -> tuple[gr.Dropdown, list[gr.components.Component]]:
    """Fill and wire the tab. Return the list with the second run, and the places that depend on the run."""
    with two_columns():
        with inputs_column():
            module = control(FactorsParams, "module", choices=[(module_name(name), name) for name in TARGETS])
            directions = control(FactorsParams, "r", elem_id="factors-r")
            start = gr.Button("Train both and compare", variant="primary", elem_id="experiment")
            other = picker.dropdown("Or compare the run above with", value=OTHER_RANK)
            caption(OPEN)
        with outputs_column():
            view = View(
                "amplification-by-layer",
                "factors",
                figures.factors_sentence,
                figures.factors_figure,
                bar=True,
                notes=figures.factors_notes,
            )
    asked = {"module": module, "r": directions}
    compare = Connection(page, FACTORS, {"run_a": picker.run, "run_b": other, **asked}, view)
    changed = [other.input, module.input, directions.input]
    compare.on(*changed)
    shown = [(compare.shown.components, _as_far)]
    experiment = Stream(page, EXPERIMENT, asked, shown, compare.folded, visitor=picker.visitor)
    triggers = [start.click, *changed]
    opened = settled.in_view(tab, "#factors-r")
    experiment.opens(*opened, note=view.bar, start=str(start.value), asked=triggers, otherwise=compare)
    experiment.on(start.click)
    return other, [module]


def _as_far(experiment: Experiment) -> list[Any]:
    """Say how far the two runs are, and draw their factors once both are done."""
    if experiment.factors:
        draw = (figures.factors_sentence, figures.factors_figure, figures.factors_notes)
        return [drawn(experiment.factors) for drawn in draw]
    standing = [
        f"{run.name}: {run.status.value}, step {run.step} of {run.steps or '?'}" for run in experiment.compared.records
    ]
    return [". ".join(standing) + ".", "", ""]
