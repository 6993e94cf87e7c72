"""Amplification: what ΔW strengthens in W, where in W's spectrum it lies, and whether full fine-tuning does the same."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import AMPLIFICATION, EXPERIMENT, FACTORS, PLACEMENT, directions_figures
from explorer.labs.delta import amplification_figures as figures
from explorer.labs.delta.controls import Settled, matrix_choice
from explorer.labs.delta.live import Experiment
from explorer.labs.delta.params import AmplificationParams
from explorer.published import lora_tables
from explorer.runs.examples import OTHER_RANK
from explorer.ui.controls import control
from explorer.ui.kit import View, caption, in_the_paper, inputs_column, outputs_column, slim, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.wiring import Connection, folds

WHY = r"""
Take the first $r$ left- and right-singular vectors $U, V$ of $\Delta W$ and look how much $W$ has in them: $\lVert U^\top W
V \rVert_F$. The **amplification factor** is $\lVert U^\top \Delta W V \rVert_F / \lVert U^\top W V \rVert_F$, which is the
paper's $\lVert \Delta W \rVert_F / \lVert U^\top W V \rVert_F$ where $r$ is the rank of $\Delta W$. Large factors mean
that the update strengthens directions that $W$ holds but hardly uses; the same projection with $W$'s own leading directions
and with random ones gives the scale. For GPT-3 the paper found 21.5 at $r = 4$ and 1.88 at $r = 64$. (Hu et al. 2021,
section 7.3, Table 7)
"""
OPEN = (
    "An open question after the paper: does full fine-tuning amplify too, or is its update more general? Train both on the "
    "same examples and see. Both are compared in the first r directions of their own update. The figure opens with two LoRA "
    "runs: the bundled run of full fine-tuning comes without its weights, which are as large as the model, so there is no "
    "factor of it until you train it."
)


def build_amplification(
    page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled
) -> tuple[gr.Dropdown, list[gr.components.Component]]:
    """Fill and wire the tab. Return the list with the second run, and the places that depend on the run."""
    with slim():
        with inputs_column():
            module, layer = matrix_choice("amplification")
            directions = control(AmplificationParams, "r")
        with outputs_column():
            view = View(
                "amplification",
                "amplification",
                figures.amplification_sentence,
                figures.amplification_figure,
                notes=figures.amplification_notes,
            )
            ids = (None, "placement-figure")
            placed = View(
                "placement",
                ids,
                directions_figures.placement_sentence,
                directions_figures.placement_figure,
                notes=directions_figures.placement_notes,
            )
    why("the formula and the paper", WHY)
    in_the_paper("LoRA's Table 7", lora_tables.amplified())
    one = {"run": picker.run, "layer": layer, "module": module}
    amplify = Connection(page, AMPLIFICATION, {**one, "r": directions}, view, folds(AMPLIFICATION, "amplification"))
    place = Connection(page, PLACEMENT, one, placed, folds(PLACEMENT, "place in W"))
    asked = [*settled.in_view(tab, "#amplification-layer"), module.input, layer.change]
    amplify.on(*asked, directions.change)
    place.on(*asked)
    return _layers(page, picker, tab, module, directions), [module, layer]


def _layers(page: Page, picker: RunPicker, tab: gr.Tab, module: gr.Dropdown, directions: gr.Slider) -> gr.Dropdown:
    """Lay out all layers of two runs, and the experiment that trains the two."""
    gr.HTML("<h2>Does full fine-tuning amplify too?</h2>")
    with two_columns():
        with inputs_column():
            caption(OPEN)
            start = gr.Button("Train both and compare", variant="primary", elem_id="experiment")
            other = picker.dropdown("Or compare the run above with", value=OTHER_RANK)
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
    compare.on(other.input)
    shown = [(compare.shown.components, _as_far)]
    experiment = Stream(page, EXPERIMENT, asked, shown, compare.folded, visitor=picker.visitor)
    triggers = [start.click, other.input]
    experiment.opens(tab.select, note=view.bar, start=str(start.value), asked=triggers, otherwise=compare)
    experiment.on(start.click)
    return other


def _as_far(experiment: Experiment) -> list[Any]:
    """Say how far the two runs are, and draw their factors once both are done."""
    if experiment.factors:
        draw = (figures.factors_sentence, figures.factors_figure, figures.factors_notes)
        return [drawn(experiment.factors) for drawn in draw]
    standing = [
        f"{run.name}: {run.status.value}, step {run.step} of {run.steps or '?'}" for run in experiment.compared.records
    ]
    return [". ".join(standing) + ".", "", ""]
