"""Amplification: what ΔW strengthens in W, and where in W's spectrum it lies."""

from __future__ import annotations

import gradio as gr

from explorer.labs.delta import AMPLIFICATION, PLACEMENT, directions_figures
from explorer.labs.delta import amplification_figures as figures
from explorer.labs.delta.controls import Settled, matrix_choice
from explorer.labs.delta.params import AmplificationParams
from explorer.published import lora_tables
from explorer.ui.controls import control
from explorer.ui.kit import View, in_the_paper, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection, folds

WHY = r"""
Take the first $r$ left- and right-singular vectors $U, V$ of $\Delta W$ and look how much $W$ has in them: $\lVert U^\top W
V \rVert_F$. The **amplification factor** is $\lVert U^\top \Delta W V \rVert_F / \lVert U^\top W V \rVert_F$, which is the
paper's $\lVert \Delta W \rVert_F / \lVert U^\top W V \rVert_F$ where $r$ is the rank of $\Delta W$. Large factors mean
that the update strengthens directions that $W$ holds but hardly uses; the same projection with $W$'s own leading directions
and with random ones gives the scale. For GPT-3 the paper found 21.5 at $r = 4$ and 1.88 at $r = 64$. (Hu et al. 2021,
section 7.3, Table 7)
"""


def build_amplification(page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled) -> list[gr.components.Component]:
    """Fill and wire the tab. Return the places that depend on the run."""
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
    return [module, layer]
