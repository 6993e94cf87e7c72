"""The tab that takes DeBERTa's scores apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from explorer.labs.attention import terms as figures
from explorer.labs.attention.terms import ABLE, DISENTANGLED_TERMS, TermsParams, TermsResult
from explorer.models.catalog import is_of
from explorer.ui.components import while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page
from explorer.ui.used_model import UsedModel
from explorer.ui.wiring import Connection

OPENING = (0, 2)
"""A layer and a head of deberta-mini that go by position alone."""

TRY = {
    "The previous token": OPENING,
    "The next token": (1, 8),
    "Content and position": (0, 5),
    "The most position → content": (0, 3),
}
"""Heads of the bundled model; in another one the same numbers are other heads."""

WHY = r"""
BERT adds a vector for the place to the vector of the word, and its heads see the sum. DeBERTa keeps the two apart: a token has
its content $H_i$ alone, and the way from token $i$ to token $j$ has a vector of its own, $P_{\delta(i,j)}$, which all layers
share. A score is then three products (He et al. 2021, equations 2 and 4):

$$\tilde A_{ij} = \frac{1}{\sqrt{3d}}\Bigl(\underbrace{q_i^{c\top} k_j^c}_{\text{content → content}} +
\underbrace{q_i^{c\top} k^r_{\delta(i,j)}}_{\text{content → position}} +
\underbrace{k_j^{c\top} q^r_{\delta(j,i)}}_{\text{position → content}}\Bigr)$$

with $q^c, k^c$ from the content and $q^r, k^r$ from the relative embeddings. The fourth product, position with position, is left
out, since it says nothing of this text. $\sqrt{3d}$ takes the place of $\sqrt d$ as there are three terms. In the third one the
code that is in use, transformers', looks up row $\delta(i,j)$ and not $\delta(j,i)$; models are trained with it. Only differences
within a row count: whatever is the same for all $j$, the softmax takes away. What each $\delta$ is stands on the Inputs page,
under Positions.
"""


def build_terms(
    page: Page, tab: gr.Tab, sentence_a: gr.Textbox, sentence_b: gr.Textbox, triggers: Sequence[Any] = ()
) -> None:
    """Fill and wire the tab. triggers: the page's own events that bring other texts."""
    with slim():
        with inputs_column(250):
            model = UsedModel(page, lambda name: is_of(name, "DeBERTa"), ABLE)
            layer = control(TermsParams, "layer", value=OPENING[0], elem_id="terms-layer")
            head = control(TermsParams, "head", value=OPENING[1])
            show = gr.Radio([(title, name) for name, title in figures.VIEWS.items()], value="less", label="Scores")
        with outputs_column(3):
            view = View(
                *("disentangled-terms", "terms", figures.terms_sentence, figures.terms_figure),
                notes=figures.terms_notes,
            )
            tries = Tries(TRY)
    why("the formula and the papers", WHY)
    inputs = {**model.inputs, "sentence_a": sentence_a, "sentence_b": sentence_b, "layer": layer, "head": head}
    look = Connection(
        page,
        DISENTANGLED_TERMS,
        inputs,
        view,
        views={"view": show},
        steered=[([layer, head], _steered)],
        page_table=figures.page_table,
    )
    moves = tries.into([layer, head])
    look.on(tab.select, layer.input, head.input, show.input, *moves)
    look.on(while_in_view("#terms-layer", sentence_a.submit, sentence_b.submit, *triggers))
    look.on(while_in_view("#terms-layer", *model.changed), adapt=_first_head)


def _steered(result: TermsResult) -> list[Any]:
    return [
        # A slider's ends differ, even if there is one layer.
        gr.update(maximum=max(1, result.depth - 1), value=result.layer),
        gr.update(maximum=max(1, result.heads - 1), value=result.head),
    ]


def _first_head(values: dict[str, Any]) -> dict[str, Any]:
    """Reset layer and head: another model may have fewer."""
    layer, head = OPENING if values["model"] == ABLE else (0, 0)
    return values | {"layer": layer, "head": head}
