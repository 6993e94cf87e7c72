"""Neuron view: one token's query, every key, their products, and the weights that come of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from explorer.labs.attention import QUERY_KEY
from explorer.labs.attention import neuron_figures as figures
from explorer.labs.attention.views import QueryKeyParams, QueryKeyResult
from explorer.models.catalog import DEFAULT_MODEL
from explorer.ui.components import plot, rich_text, token_chips, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Tries, caption, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

OPENING = ("The cat sat on the mat because it was tired.", 4, 2, 8)
"""A text, and a layer, head and position that tell something about it."""

AGAIN = "it → cat"
TRY = {AGAIN: None, "The previous token": (0, 6), "The next token": (1, 3), "Rest on [SEP]": (2, 0)}
"""Heads of the bundled model; in another one the same numbers are other heads. The first puts the opening text back."""

WHY = r"""
In a head each token $i$ has a **query** $q_i = W_Q h_i$ and each token $j$ a **key** $k_j = W_K h_j$. Their products, element
by element, add up to the score, and the softmax of a token's scores over all tokens is where it looks:

$$\alpha_{ij} = \operatorname{softmax}_j\left(\frac{q_i^\top k_j}{\sqrt{d}}\right), \qquad
q_i^\top k_j = \sum_{m=1}^{d} q_{im} k_{jm}$$

with $d$ elements in each head. A column that is dark in $q \times k$ for one token only is an element that tells this token
from the others; a column dark for all of them moves every score alike, and the softmax does not notice. In DeBERTa $\sqrt{3d}$
takes the place of $\sqrt{d}$, and scores of relative positions are added. GPT-2 sees no later token.
(Vaswani et al. 2017, section 3.2.1; the view follows Vig 2019; He et al. 2021, equation 4)
"""


def build_neuron(
    page: Page, tab: gr.Tab, sentence_a: gr.Textbox, sentence_b: gr.Textbox, triggers: Sequence[Any] = ()
) -> None:
    """Fill and wire the tab. triggers: the page's own events that bring other texts."""
    text, first_layer, first_head, first_position = OPENING
    with two_columns("controls"):
        layer = control(QueryKeyParams, "layer", value=first_layer, min_width=200, elem_id="neuron-layer")
        head = control(QueryKeyParams, "head", value=first_head, min_width=200)
        with outputs_column(2, 270):
            tries = Tries(TRY)
    chips = token_chips(elem_id="neuron-chips")
    said = sentence_place("neuron-said")
    opens_at = first_position if sentence_a.value == text else None  # a position means a token of this very text
    position = control(QueryKeyParams, "position", value=opens_at, visible="hidden")
    figure = plot("query-and-key", elem_id="neuron-figure")
    noted = rich_text(elem_id="neuron-notes")
    caption(
        "Press a token to let it look. Blue: positive, vermilion: negative, the paper: zero. "
        "One column is one element of the head's vectors; a row of q × k adds up to the score."
    )
    why("the formula and the papers", WHY)
    # What layer, head and position were chosen for: `_fitting` compares it with what is asked next.
    seen = gr.State([DEFAULT_MODEL, sentence_a.value or "", sentence_b.value or ""])
    inputs = {"sentence_a": sentence_a, "sentence_b": sentence_b, "layer": layer, "head": head, "position": position}
    shown = [(said, figures.query_key_sentence), (figure, figures.query_key_figure), (chips, figures.query_key_chips)]
    shown.append((noted, figures.query_key_notes))
    look = Connection(page, QUERY_KEY, inputs, shown, steered=[([layer, head, position, seen], _steered)])
    moves = tries.into([layer, head])
    parts = [sentence_a, sentence_b, layer, head, position, seen]
    moves.append(tries.buttons[AGAIN].click(_opened, [page.model], parts, **QUIET).then)
    look.on(
        tab.select,
        layer.input,
        head.input,
        *moves,
        while_in_view("#neuron-layer", sentence_a.submit, sentence_b.submit, *page.changed, *triggers),
        extra={"seen": seen},
        adapt=_fitting,
    )
    look.on(chips.select, read=_pressed)


def _opened(model: str) -> list[Any]:
    text, layer, head, position = OPENING
    return [text, "", layer, head, position, [model, text, ""]]  # as seen, so that `_fitting` keeps the position


def _pressed(event: gr.EventData) -> dict[str, Any]:
    return {"position": event.positions[-1]}  # earlier ones may still be lit


def _steered(result: QueryKeyResult) -> list[Any]:
    return [
        gr.update(maximum=result.depth - 1, value=result.layer),
        gr.update(maximum=result.heads - 1, value=result.head),
        result.looking.position,
        [result.model, *result.sentences],
    ]


def _fitting(values: dict[str, Any]) -> dict[str, Any]:
    """Reset what no longer fits: another model may lack the layer and the head, another text the position."""
    model, *sentences = values.pop("seen")
    if values["model"] != model:
        values = values | {"layer": 0, "head": 0, "position": None}
    if [values["sentence_a"], values["sentence_b"] or ""] != sentences:
        values = values | {"position": None}
    return values
