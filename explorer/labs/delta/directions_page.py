"""Two runs: which directions they share."""

from __future__ import annotations

import gradio as gr

from explorer.labs.delta import SUBSPACE
from explorer.labs.delta import directions_figures as figures
from explorer.labs.delta.controls import Settled, matrix_choice
from explorer.runs.examples import OTHER_RANK
from explorer.ui.components import rich_text
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

WHY = r"""
Let $U_A^{(i)}$ hold the first $i$ right-singular vectors of one run's $A$, and $U_{A'}^{(j)}$ the first $j$ of another's. Then

$$\phi(A, A', i, j) = \frac{\lVert U_A^{(i)\top} U_{A'}^{(j)} \rVert_F^2}{\min(i, j)} \in [0, 1]$$

is 1 where the smaller subspace lies in the larger one and 0 where they are orthogonal. Two random subspaces have some $\phi$
too, the more of it the larger they are: $\max(i, j)$ over the width of the space. The colour is what $\phi$ has above or below
that, the paper at chance; two subspaces drawn at random stand beside.

The LoRA paper compares $r = 8$ with $r = 64$ (figure 3) and two seeds (figure 4). In GPT-3 the top direction of rank 8 and rank
64 overlaps with $\phi$ above 0.5 and the others hardly, which the paper takes for the reason why $r = 1$ does well. (Hu et al.
2021, section 7.2)
"""


def build_compare(
    page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled
) -> tuple[gr.Dropdown, list[gr.components.Component]]:
    """Fill and wire the tab. Return the list with the second run, and the places that depend on the run."""
    with two_columns():
        with inputs_column():
            other = picker.dropdown("Compared with", elem_id="other-run", value=OTHER_RANK)
            module, layer = matrix_choice("compare")
            compare = gr.Button("Compare", variant="primary", elem_id="compare-runs")
            caption("The first run is the one chosen above. Good pairs: two ranks, or two seeds, on one task.")
        with outputs_column():
            view = View(
                "subspace-similarity",
                "similarity",
                figures.similarity_sentence,
                figures.similarity_figure,
                notes=figures.similarity_notes,
            )
            facts = rich_text(elem_classes=["measures"])
    why("the formula and the paper", WHY)
    inputs = {"run_a": picker.run, "run_b": other, "layer": layer, "module": module}
    subspace = Connection(page, SUBSPACE, inputs, [*view, (facts, figures.similarity_facts)])
    opened = settled.in_view(tab, "#compare-layer")
    subspace.on(*opened, compare.click, other.input, module.input, layer.change)
    return other, [module, layer]
