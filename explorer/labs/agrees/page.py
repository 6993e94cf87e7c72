"""One question and no tabs: the figures as a picture, and each of them in a table with what explains a difference."""

from __future__ import annotations

import gradio as gr

from explorer.labs.agrees import PUBLISHED_FIGURES, figures
from explorer.labs.agrees.schema import PublishedParams
from explorer.ui.components import rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import Tries, View, caption, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A published figure agrees here if the computed one, **rounded to the digits that are printed**, is the same: 0.3M stands for
anything from 250,000 to 350,000, 294,912 for itself. A zero counts as a digit, so a count that a paper rounds to tens (340M)
differs, and the reason says so.

Sizes are counted tensor by tensor on models without weights (torch's *meta* device), from the sizes in their published configs.
What a method trains is counted on such a model with the method put on it, as [Fine-tune](finetune) does it before a run; for
GPT-3, whose config is not published as a file, the paper's formulas are filled in:

| what | trained parameters |
|---|---|
| LoRA, one matrix $W \in \mathbb{R}^{d \times k}$ | $r\,(d + k)$: $B$ has $d\,r$ and $A$ has $r\,k$ |
| adapters | $L\,(2\,d\,r + r + d)$ for one a layer, and $2\,d$ for each layer norm that is trained beside them |
| Prefix-embedding | $d\,(l_p + l_i)$: vectors before and after the text |
| Prefix-layer | $L\,d\,(l_p + l_i)$ |
| BitFit | $11\,d$ a layer and $d$ for the last norm |

Averages, percentages and ratios are computed from the other figures of the same table. A figure whose parts are not published
(a score, a time) can only be quoted or measured on other models, and is not here. Where no quoted table gives an adapter's width,
a prefix's length or a rank, it is inferred from the count itself, as the row says, and so is no independent check. (Hu et
al. 2021, section 5.1, for the formulas)
"""

VIEWS = [("how many agree", "sources"), ("how far apart they are", "apart")]


def build(page: Page) -> None:
    """Lay out the choice at the left, the picture at the right, and all rows below."""
    with slim():
        with inputs_column(250):
            inputs = controls(PublishedParams, "paper", "verdict")
            view = gr.Radio(VIEWS, value="sources", label="Picture")
            caption("Figures are quoted as their papers print them, and computed here when the page asks for them.")
        with outputs_column():
            shown = View(
                *("what-agrees", "agrees", figures.published_sentence, figures.published_figure),
                notes=figures.published_notes,
            )
            tries = Tries(
                {
                    "LoRA's counts": {"paper": "lora", "verdict": "all"},
                    "What differs": {"paper": "all", "verdict": "differ"},
                    "Sharing in ALBERT": {"paper": "albert", "verdict": "all"},
                }
            )
    rows = rich_text(elem_classes=["wide"], elem_id="agrees-rows")
    why("what counts as equal, and the formulas", WHY)
    places = [*shown, (rows, figures.published_view)]
    published = Connection(page, PUBLISHED_FIGURES, inputs, places, views={"view": view})
    # `input` is the visitor's own choice; a Try has a trigger of its own.
    changed = [component.input for component in inputs.values()]
    published.on(page.opened, *changed, view.input, *tries.into(inputs))
