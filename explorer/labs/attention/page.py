"""The attention page: one head, all heads, bertviz, neurons, DeBERTa's terms, and heads switched off."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.attention.head_page import build_heads
from explorer.labs.attention.layer_page import build_layer
from explorer.labs.attention.neuron_page import build_neuron
from explorer.labs.attention.switch_page import build_run_switches, build_switches
from explorer.labs.attention.terms_page import build_terms
from explorer.labs.attention.views_page import build_views
from explorer.ui.kit import Examples, inputs_column, outputs_column, slim, why
from explorer.ui.page import Page

EXAMPLES = (
    ("The cat sat on the mat because it was tired.", ""),
    ("The keys to the cabinet are on the table.", ""),
    ("The hikers reached the top of the mountain.", "From there they could see the whole valley."),
    ("She poured the water from the bottle into the cup until it was full.", ""),
    ("one two three four five six seven eight nine ten", ""),
)

WHY = r"""
In each layer every head turns the state $h_i$ of each token into a **query** $q_i = W_Q h_i$, a **key** $k_i = W_K h_i$ and a
**value** $v_i = W_V h_i$. Token $i$ looks at token $j$ with the weight

$$\alpha_{ij} = \operatorname{softmax}_j\!\left(\frac{q_i^\top k_j}{\sqrt d}\right), \qquad \sum_j \alpha_{ij} = 1,$$

and the head passes on $\sum_j \alpha_{ij} v_j$. (Vaswani et al. 2017, section 3.2.1.) Many heads of BERT have plain habits: the
previous token, the next one, [SEP] (Clark et al. 2019, section 3). **Rollout** follows attention through the layers: half of
what a token keeps is its own (the residual connection), so $\tilde A_l = \tfrac12(\bar A_l + I)$ and the rollout is
$\tilde A_l \cdots \tilde A_1 \tilde A_0$ (Abnar and Zuidema 2020, section 3). Neither says that a token *mattered*: for that,
switch heads off, or look at attribution.
"""


def build(page: Page) -> None:
    """Lay out the texts, which most tabs share, and the tabs."""
    with gr.Row(elem_classes=["texts"]) as texts:
        bare: dict[str, Any] = {"show_label": False, "container": False}
        sentence_a = gr.Textbox(
            EXAMPLES[0][0], label="Sentence A", placeholder="Sentence A", max_lines=4, scale=4, min_width=260, **bare
        )
        sentence_b = gr.Textbox(
            "", label="Sentence B", placeholder="Sentence B, if you like", max_lines=4, scale=3, min_width=200, **bare
        )
        by_title = {" · ".join(part for part in pair if part): pair for pair in EXAMPLES}
        examples = Examples(by_title, scale=2, min_width=150, **bare)
    picked = examples.into([sentence_a, sentence_b], show_progress="full")
    with gr.Tabs(selected="one") as tabs:
        with gr.Tab("One head", id="one") as one:  # the id by which a press in All heads leads here
            with slim():
                head_side = inputs_column(250)
                head_main = outputs_column()
            _why()
        with gr.Tab("All heads", id="all") as everything:
            grid_place = gr.Column()
            _why()
        with gr.Tab("Head view, model view", id="views") as views:
            build_views(page, views, sentence_a, sentence_b, _why, triggers=(picked,))
        with gr.Tab("Queries and keys", id="neurons") as neurons:
            build_neuron(page, neurons, sentence_a, sentence_b, triggers=(picked,))
        with gr.Tab("Content and position", id="terms") as terms:
            build_terms(page, terms, sentence_a, sentence_b, triggers=(picked,))
        with gr.Tab("One layer", id="layer") as layer:
            build_layer(page, layer)
        with gr.Tab("Switch heads off", id="switches") as switched:
            build_switches(page, switched)
        with gr.Tab("Heads of a classifier", id="run-switches") as of_run:
            build_run_switches(page, of_run)
    for tab in (one, everything, views, neurons, terms):  # the tabs that read the texts at the top
        tab.select(lambda: gr.Row(visible=True), None, [texts], api_visibility="private", queue=False)
    for tab in (layer, switched, of_run):  # they have texts of their own, or none
        tab.select(lambda: gr.Row(visible=False), None, [texts], api_visibility="private", queue=False)
    build_heads(page, tabs, (one, everything), (head_side, head_main, grid_place), (sentence_a, sentence_b), picked)


def _why() -> None:
    why("the formulas and the papers", WHY)
