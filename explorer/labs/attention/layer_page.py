"""The tab that draws one layer."""

from __future__ import annotations

import gradio as gr

from explorer.labs.attention import layer as figures
from explorer.labs.attention.layer import ONE_LAYER
from explorer.ui.components import rich_text, while_in_view
from explorer.ui.kit import inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection

WHY = r"""
A layer is two blocks, each with a way past it whose end is a sum: $h' = \mathrm{LayerNorm}(h + \mathrm{Attention}(h))$, then
$h'' = \mathrm{LayerNorm}(h' + \mathrm{FFN}(h'))$ with $\mathrm{FFN}(h) = W_2\,\mathrm{GELU}(W_1 h + b_1) + b_2$ (Vaswani et al.
2017, section 3; BERT has GELU where they had ReLU). So a block only has to say what is to be *changed* of the state. GPT-2 puts
the norm where a block begins, $h' = h + \mathrm{Attention}(\mathrm{LayerNorm}(h))$, and leaves the way past it free.

Attention is the only place where tokens meet: the feed-forward net, the sums and the norms treat each token by itself. The
softmax is over the tokens that a query meets; it has no numbers of its own to learn. $W_O$ puts the heads' answers, one below the
other, back into one state. Multiplying by one matrix and cutting the product into heads is the same as a matrix for each head.
"""


def build_layer(page: Page, tab: gr.Tab) -> None:
    """Build the tab; its drawing follows the page's model."""
    with two_columns():
        with inputs_column(300):
            said = sentence_place("layer-said")
            notes = rich_text(elem_id="layer-notes")
        with outputs_column():
            drawn = rich_text(elem_id="layer-drawn")
    why("a layer, and where it can be changed", WHY)
    shown = [(said, figures.layer_sentence), (drawn, figures.layer_view), (notes, figures.layer_notes)]
    layer = Connection(page, ONE_LAYER, {}, shown)
    layer.on(tab.select, while_in_view("#layer-said", *page.changed))
