"""Several blanks: one text, four ways to fill it, step by step."""

from __future__ import annotations

import gradio as gr

from explorer.labs.masking import FILL_SEVERAL
from explorer.labs.masking import several as figures
from explorer.labs.masking.several import OPENING, TRY, SeveralParams
from explorer.ui.components import rich_text, while_in_view
from explorer.ui.controls import controls
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
BERT gives every blank a distribution of its own: $p(x_i \mid \text{context})\, p(x_j \mid \text{context})$ and not
$p(x_i, x_j \mid \text{context})$. Filled **each alone**, *New* may meet *California*. The chain rule knits them together: fill
one, look again, fill the next,

$$p(x_1, \dots, x_n) = \prod_k p(x_k \mid x_1 \dots x_{k-1}, \text{blanks after them})$$

Another order gives another number: BERT's answers do not belong to one distribution of all blanks. So that the four ways can be
compared, each filling is scored from left to right.

**Left to right** is how a writing model goes. **Surest first** begins where least is to be lost. Both take as many looks as
there are blanks. **In steps** (mask-predict) fills all blanks at once, empties those it was least sure of, and fills them
again with the others in view: $n\,(T-t)/T$ of $n$ blanks at step $t$ of $T$. (Ghazvininejad et al. 2019, section 3)

A text of blanks alone that becomes words over a number of steps is also how **diffusion** models for text work: their noise is
the mask, taken away a little at a time. One step of it is BERT's own task, at a share of blanks that is drawn anew each time
and not always 15%; the loss of such a model is an average of BERT's losses over all shares (Sahoo et al. 2024). BERT saw
15% in training, so a line of eight blanks is much more than it was made for.
"""


def build_several(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: one action, computed when it comes into view."""
    with two_columns():
        with inputs_column():
            inputs = controls(SeveralParams, text=OPENING[0], steps=OPENING[1])
            button = gr.Button("Fill the blanks", variant="primary", elem_id="several-start")
            tries = Tries(dict(TRY))
        with outputs_column():
            view = View("several-blanks", "several", figures.several_sentence, figures.several_figure)
            facts = rich_text(elem_classes=["wide"], elem_id="several-facts")

    why("one blank at a time, or all at once", WHY)
    fill = Connection(page, FILL_SEVERAL, inputs, [*view, (facts, figures.several_facts)])
    tried = tries.into(list(inputs.values()), show_progress="full")
    changed = while_in_view("#several-figure", *page.changed)
    fill.on(button.click, inputs["text"].submit, inputs["steps"].release, tab.select, changed, *tried)
