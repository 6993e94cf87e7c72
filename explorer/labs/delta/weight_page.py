"""W's whole spectrum beside ΔW's."""

from __future__ import annotations

import gradio as gr

from explorer.labs.delta import weight as figures
from explorer.labs.delta.controls import Settled, matrix_choice
from explorer.labs.delta.weight import WEIGHT_SPECTRUM
from explorer.ui.components import rich_text
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

WHY = r"""
**The intrinsic-rank hypothesis** is about the update and not about the weights: pretrained models have a low *intrinsic
dimension*, which is to say that training a few hundred numbers, spread over all parameters by a fixed random projection, reaches
90% of what full fine-tuning does on some tasks (Aghajanyan, Gupta and Zettlemoyer 2021, after Li et al. 2018). Hu et al. 2021,
section 4.1, suppose from it that $\Delta W$ has a low intrinsic rank too, and so write it as $\frac{\alpha}{r} B A$. $W$ stays as
it is, whatever its rank.

The **energy** of the first $i$ directions is $\sum_{j \le i} \sigma_j^2 / \sum_j \sigma_j^2$. Both axes are shares, so that
matrices of any size and norm can be compared. A Gaussian matrix of the same shape (Marchenko and Pastur 1967) is what a matrix
without any structure looks like. LoRA's $\Delta W$ ends at $r$ of $\min(d, k)$ directions by construction: it shows how many of
these are used, and only the update of a method without such a bound can speak for the hypothesis or against it.
"""


def build_weight(page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled) -> list[gr.components.Component]:
    """Fill and wire the tab. Return the places that depend on the run."""
    with two_columns():
        with inputs_column():
            module, layer = matrix_choice("weight")
            caption(
                "LoRA writes the update as a product of two thin matrices. Not because W is one: look at how many of its "
                "directions W uses, and how many ΔW."
            )
        with outputs_column():
            view = View(
                *("weight-spectrum", "whole", figures.whole_sentence, figures.whole_figure),
                bar=True,
                notes=figures.whole_notes,
            )
            facts = rich_text(elem_classes=["measures"])
    why("the hypothesis and its sources", WHY)
    inputs = {"run": picker.run, "layer": layer, "module": module}
    whole = Connection(page, WEIGHT_SPECTRUM, inputs, [*view, (facts, figures.whole_facts)])
    asked = [module.input, layer.change]
    # 0.15 to 0.5 s for a bundled run on a processor, so nothing waits for a button.
    whole.opens(*settled.in_view(tab, "#weight-layer"), note=view.bar, asked=[*asked, picker.run.input])
    whole.on(*asked)
    return [module, layer]
