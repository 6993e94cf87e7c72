"""One blank: what each reader says, and what each may look at."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.charts.words import quoted
from explorer.labs.directions import DIRECTIONS, SIGHT
from explorer.labs.directions import blank_figures as figures
from explorer.labs.directions.controls import Asked
from explorer.labs.directions.examples import TRY
from explorer.labs.directions.schema import SightParams
from explorer.models.published import BERT_TABLE_5, BERT_TASKS
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A layer's attention is a softmax over what a position may look at. A **mask** $M$ is added to the scores before it,

$$A = \operatorname{softmax}\Bigl(\frac{QK^\top}{\sqrt{d}} + M\Bigr), \qquad M_{ij} = 0 \text{ or } -\infty,$$

so that a weight where $M_{ij} = -\infty$ is exactly 0, in every head and every layer (Vaswani et al. 2017, section 3.2.3).
Nothing is trained anew here: bert-small's own weights are asked under three masks.

* **left**: $M_{ij} = -\infty$ for $j > i$, the **causal** mask. gpt2-mini was trained under it; bert-small was not, and what it
 says there is what is left of it when half of its input is gone.
* **right**: no position looks at what stands before the blank. `[CLS]` stays, and so does the blank's own position number, which
 gives away how many tokens were there.
* **both**: $M = 0$, as BERT was trained.

The blank is `[MASK]` for bert-small; of a word of several pieces all are hidden, and the first is asked for. gpt2-mini answers at
the token before the word, and begins with the token that stood between texts in its training. Its vocabulary is another one, so
its ranks and probabilities compare only roughly. Entropies are in nats.

BERT's authors trained the same model in one direction too, and it lost on every task (Devlin et al. 2019, Table 5):
"""


def build_blank(page: Page) -> None:
    """Lay out a sentence, one word of it hidden; below, the attention of each reader."""
    with two_columns():
        with inputs_column():
            asked = Asked("directions")
            caption("Always by bert-small and gpt2-mini, whichever model is chosen above.")
        with outputs_column(3):
            chips = asked.lay_out_chips()
            view = View("directions", "directions", figures.directions_sentence, figures.directions_figure)
            notes = rich_text(elem_classes=["measures"])
            tries = Tries(TRY)
    with why("the masks, and what BERT's authors measured", WHY):
        rich_text(str(quoted(("BERT-base", *BERT_TASKS), BERT_TABLE_5)), elem_classes=["quoted"])
    shown = [(chips, figures.masked_chips), *view, (notes, figures.directions_notes), asked.standing]
    read = Connection(page, DIRECTIONS, asked.inputs, shown)
    _sight(page, asked, asked.wire(read, page.opened, tries=tries))


def _sight(page: Page, asked: Asked, events: list[Any]) -> None:
    """Lay out which positions look at which, in one layer, after every answer."""
    gr.Markdown("## Which position may look at which")
    with gr.Row():
        choices = [("the masks", figures.MASKS), ("the weights of one layer", figures.WEIGHTS)]
        show = gr.Radio(choices, value=figures.MASKS, label="Show", elem_id="sight-show")
        layer = control(SightParams, "layer", visible=False)  # the masks are the same in all layers
    view = View(
        *("attention-of-directions", "sight", figures.sight_sentence, figures.sight_figure), notes=figures.sight_notes
    )
    sight = Connection(page, SIGHT, {**asked.inputs, "layer": layer}, view, views={"show": show})
    sight.on(show.input, layer.change, *(event.then for event in events))
    show.input(lambda chosen: gr.update(visible=chosen == figures.WEIGHTS), [show], [layer], **QUIET)
