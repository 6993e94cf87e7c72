"""Intruder dimensions: of the chosen run and of another, or of a pair that is trained for it."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import intruders_figures as figures
from explorer.labs.delta.controls import Settled, matrix_choice
from explorer.labs.delta.intruders import INTRUDERS, TRAIN_INTRUDERS, IntruderParams, TrainedIntruders
from explorer.runs.examples import OTHER_RANK
from explorer.ui.components import apart
from explorer.ui.controls import control
from explorer.ui.kit import View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch

WHY = r"""
Let $u_i$ be the left-singular vectors of $W$ and $\tilde u_j$ those of $W + \Delta W$, each from the strongest. A direction
$\tilde u_j$ among the first $k$ with

$$\max_i \lvert \cos(\tilde u_j, u_i) \rvert < \varepsilon$$

is an **intruder dimension**: strong in the fine-tuned matrix, and unlike anything that $W$ had. Where nothing has changed the
grid's diagonal is 1; two directions of nearly the same strength may trade places or mix, which takes them off the diagonal and
is no intruder, since the largest cosine looks at all of $W$'s. A random direction has some cosine too: it is drawn as chance.

LoRA's runs have intruders and full fine-tuning hardly has any, even where both score the same; runs with more of them forget more
of what the model knew before, and making the intruders smaller afterwards brings some of it back (Shuttleworth, Andreas,
Torralba and Sharma 2024). peft does the last in `reduce_intruder_dimension`, whose count is the one above.
"""
OPEN = (
    "Does full fine-tuning have fewer? The bundled run of it comes without its weights, which are as large as the model. "
    "Train it beside LoRA on the same examples, or choose any run of your own above."
)


def build_intruders(
    page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled
) -> tuple[gr.Dropdown, list[gr.components.Component]]:
    """Fill and wire the tab. Return the list with the second run, and the places that depend on the run."""
    with two_columns():
        with inputs_column():
            other = picker.dropdown("Beside the run above", elem_id="intruder-run", value=OTHER_RANK)
            module, layer = matrix_choice("intruders")
            k = control(IntruderParams, "k")
            epsilon = control(IntruderParams, "epsilon")
            find = gr.Button("Find the intruders", variant="primary", elem_id="find-intruders")
            caption(OPEN)
            start = gr.Button("Train LoRA and full, and compare", elem_id="train-intruders")
        with outputs_column():
            cosines = View(
                "intruder-cosines",
                "cosines",
                figures.cosines_sentence,
                figures.cosines_figure,
                bar=True,
                notes=figures.cosines_notes,
            )
    with two_columns(), outputs_column(1):
        counts = View(
            "intruder-counts", "intruders", figures.counts_sentence, figures.counts_figure, notes=figures.counts_notes
        )
    why("the definition and the paper", WHY)
    # One watch: the stream that starts last fills the places.
    shared: dict[str, Any] = {"visitor": picker.visitor, "watch": Watch()}
    asked = {"layer": layer, "module": module, "k": k, "epsilon": epsilon}
    shown = [*cosines, *counts]
    found = Stream(page, INTRUDERS, {"run_a": picker.run, "run_b": other, **asked}, shown, **shared)
    # A visitor's own changes alone: what an address or another run sets waits for the button.
    changed = [find.click, *(part.input for part in (other, module, layer, k, epsilon))]
    found.opens(
        *settled.in_view(tab, "#intruders-layer"),
        note=cosines.bar,
        start=str(find.value),
        asked=[*changed, start.click],
        last=gr.JSON(visible=False),
    )
    found.on(apart(*changed))
    trained = [(found.shown.components, _as_far)]
    Stream(page, TRAIN_INTRUDERS, asked, trained, found.folded, **shared).on(start.click)
    return other, [module, layer]


def _as_far(trained: TrainedIntruders) -> list[Any]:
    """Say how far the two runs are, and draw what is found once both are done."""
    if trained.found is None:
        return [figures.trained_standing(trained), *[""] * 5]  # figures and notes stay empty
    cosines = (figures.cosines_sentence, figures.cosines_figure, figures.cosines_notes)
    counts = (figures.counts_sentence, figures.counts_figure, figures.counts_notes)
    return [drawn(trained.found) for drawn in (*cosines, *counts)]
