"""Amplification: what ΔW strengthens in W, where in W's spectrum it lies, and whether full fine-tuning does the same."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import AMPLIFICATION, EXPERIMENT, FACTORS, PLACEMENT, amplification_figures, directions_figures
from explorer.labs.delta.live import Experiment
from explorer.labs.delta.params import AmplificationParams
from explorer.labs.delta.places import matrix_choice
from explorer.labs.delta.schema import AmplificationResult, PlacementResult, RunFactors
from explorer.runs.examples import OTHER_RANK
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import asks, bench, caption, shows, view_of, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
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
    page: Page, picker: RunPicker, tab: gr.Tab
) -> tuple[gr.Dropdown, list[gr.components.Component]]:
    """Returns the list with the second run, and the places that depend on the run."""
    with bench():
        with asks():
            module, layer = matrix_choice()
            directions = control(AmplificationParams, "r")
        with shows():
            said, figure = view_of("amplification", "amplification")
            placed_said, placed = view_of("placement", figure="placement-figure")
    with why("the formula and the paper", WHY):
        rich_text(str(amplification_figures.PAPER), elem_classes=["wide"])
    one = {"run": picker.run, "layer": layer, "module": module}
    amplify = Connection(
        page, AMPLIFICATION, {**one, "r": directions}, [said, figure], _show, folds(AMPLIFICATION, "amplification")
    )
    place = Connection(page, PLACEMENT, one, [placed_said, placed], _show_placement, folds(PLACEMENT, "place in W"))
    amplify.on(tab.select, module.input, layer.change, directions.change)
    place.on(tab.select, module.input, layer.change)
    return _layers(page, picker, tab, module, directions), [module, layer]


def _layers(page: Page, picker: RunPicker, tab: gr.Tab, module: gr.Dropdown, directions: gr.Slider) -> gr.Dropdown:
    """All layers of two runs, and the experiment that trains the two."""
    gr.HTML("<h2>Does full fine-tuning amplify too?</h2>")
    with bench():
        with asks():
            caption(OPEN)
            start = gr.Button("Train both and compare", variant="primary", elem_id="experiment")
            other = picker.dropdown("Or compare the run above with", value=OTHER_RANK)
        with shows():
            said, figure = view_of("amplification-by-layer", "factors")
    folded = folds(FACTORS)
    compare = Connection(
        page,
        FACTORS,
        {"run_a": picker.run, "run_b": other, "module": module, "r": directions},
        [said, figure],
        _show_factors,
        folded,
    )
    compare.on(tab.select, other.input)
    experiment = Stream(
        page,
        EXPERIMENT,
        {"module": module, "r": directions},
        picker.visitor,
        [said, figure],
        _show_experiment,
        folded,
        Watch(),
    )
    experiment.on(start.click)
    return other


def _show(result: AmplificationResult) -> list[Any]:
    return [
        str(amplification_figures.amplification_sentence(result)),
        amplification_figures.amplification_figure(result),
    ]


def _show_placement(result: PlacementResult) -> list[Any]:
    return [str(directions_figures.placement_sentence(result)), directions_figures.placement_figure(result)]


def _show_factors(runs: tuple[RunFactors, ...]) -> list[Any]:
    return [str(amplification_figures.factors_sentence(runs)), amplification_figures.factors_figure(runs)]


def _show_experiment(experiment: Experiment) -> list[Any]:
    if experiment.factors:
        return _show_factors(experiment.factors)
    standing = [
        f"{run.name}: {run.status.value}, step {run.step} of {run.steps or '?'}" for run in experiment.compared.records
    ]
    return [". ".join(standing) + ".", ""]
