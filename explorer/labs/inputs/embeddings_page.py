"""The sum: what is added up for each token, part by part, and one token in detail."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.inputs import EMBEDDING_PARTS, TOKEN_PARTS
from explorer.labs.inputs import embeddings_figures as figures
from explorer.labs.inputs import positions_figures as detail_figures
from explorer.labs.inputs.embeddings import SumParams, SumResult
from explorer.labs.inputs.schema import PAIRS
from explorer.ui.components import rich_text, token_chips
from explorer.ui.controls import controls
from explorer.ui.kept_controls import OF_ANSWER
from explorer.ui.kit import QUIET, Tries, View, caption, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

WHY = r"""
Before its first layer BERT looks three vectors up for each token $w$ at place $i$ in segment $s$, adds them, and normalises the
sum:

$$x_i = \operatorname{LayerNorm}(E_{w} + S_{s} + P_{i}), \qquad
\operatorname{LayerNorm}(v) = g \odot \frac{v - \bar v}{\sqrt{\operatorname{var}(v) + \epsilon}} + b$$

All three tables start at random and are trained with the layers: no other embedder comes before BERT. The same word in another
place differs by $P$ alone; all that is further known about it comes from the layers. RoBERTa has a
single segment; DistilBERT and ModernBERT have none. ALBERT and small ELECTRAs keep their tables at a smaller width $E$ and map
the result to the layers' width $H$, which saves about $V \cdot (H - E)$ parameters for $V$ pieces. DeBERTa and ModernBERT put
positions into the attention instead; GPT-2 adds token and position and normalises inside its layers.

A part's **share** is $p \cdot x / \lVert x \rVert^2$ with $x$ the sum, so the shares add up to 1. (Devlin et al. 2019, section 3
and figure 2; Lan et al. 2020, section 3.1; Liu et al. 2019; He et al. 2021)
"""


def build_sum(page: Page, tab: gr.Tab) -> None:
    """Fill and wire the tab: two sentences, the parts of each token's sum, and below those of one."""
    with two_columns():
        with inputs_column(250):
            sentences = controls(SumParams, sentence_a=PAIRS[0][1], sentence_b=PAIRS[0][2])
            button = gr.Button("Add up the embeddings", variant="primary")
            tries = Tries({name: pair for name, *pair in PAIRS[1:]})
            # Shown for a text with more tokens than rows.
            first = gr.Slider(0, 1, 0, step=1, label="Show tokens from position", visible=False)
        with outputs_column(3):
            view = View("embedding-parts", "sum", figures.sum_sentence, figures.sum_figure)
            notes = rich_text(elem_id="sum-notes")
            caption(
                "All three tables start at random and are trained with the layers; no other embedder comes before BERT."
            )
    why("the formula and the papers", WHY)
    folded = folds(EMBEDDING_PARTS)
    with two_columns():
        with inputs_column(250):
            token = gr.Dropdown(
                [("1", 1)], value=1, label="One token in detail", filterable=False, elem_classes=[OF_ANSWER]
            )
            caption("Its nearest neighbours in the token table, before any context, with the cosine below each:")
            neighbours = token_chips(elem_id="sum-neighbours")
        with outputs_column(3):
            of_token = View(
                *("token-parts", "token", detail_figures.token_sentence, detail_figures.token_figure),
                notes=detail_figures.token_notes,
            )
    boxes = list(sentences.values())
    shown, steered = [*view, (notes, figures.sum_notes)], [([token, first], _steer)]
    add_up = Connection(page, EMBEDDING_PARTS, sentences, shown, folded, views={"first": first}, steered=steered)
    shown = [*of_token, (neighbours, detail_figures.neighbour_chips)]
    detail = Connection(page, TOKEN_PARTS, {**sentences, "position": token}, shown)
    tried = tries.into(boxes)
    moves = [button.click, *(box.submit for box in boxes), tab.select, *page.changed]
    added = add_up.on(*moves, *tried)
    add_up.on(first.input)
    pressed = view.figure.select(_pressed, None, [token], **QUIET)
    detail.on(token.input, pressed.then, *(event.then for event in added))


def _pressed(event: gr.EventData) -> int:
    """Return the token whose strip was pressed."""
    return int(event.y)


def _steer(result: SumResult) -> list[Any]:
    """Return the list of tokens, which follows the text, and the slider, shown if there are more tokens than rows."""
    last = len(result.tokens) - figures.MOST_ROWS
    return [
        # 1: the first after [CLS].
        gr.update(choices=figures.token_choices(result), value=min(1, len(result.tokens) - 1)),
        gr.update(visible=last > 0, maximum=max(1, last)),
    ]
