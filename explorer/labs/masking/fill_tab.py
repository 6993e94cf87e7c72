"""Fill: a sentence, its tokens to press, the predictions as bars, other models beside."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.masking import FILL_MASKS, figures
from explorer.labs.masking.compare import MOST_OTHERS, Comparison
from explorer.labs.masking.examples import EXAMPLES, TRY
from explorer.labs.masking.fill_events import keep_hidden, open_with, pressed_positions, shown
from explorer.labs.masking.schema import FillParams, FillResult
from explorer.models.catalog import CATALOG
from explorer.models.families import Capability
from explorer.ui.components import rich_text, token_chips
from explorer.ui.controls import control
from explorer.ui.kit import Examples, Tries, asks, bench, shows, view_of, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds

OTHERS = [card.model_id for card in CATALOG if Capability.MLM in card.capabilities]

WHY = r"""
BERT reads the whole sentence at once, to the left and to the right of the blank. Its masked-language-model head turns the
hidden state $h_i$ at a masked position into one score for each token $v$ of the vocabulary, and the softmax of the scores is

$$p(v \mid \text{context}) = \frac{\exp(e_v^\top g(h_i) + b_v)}{\sum_u \exp(e_u^\top g(h_i) + b_u)}$$

where $g$ is a dense layer with GELU and LayerNorm and $e_v$ is the *same* embedding that the input uses (tied weights). The
**entropy** $-\sum_v p(v)\ln p(v)$ says how undecided the model is; $-\ln p$ of the hidden token is its term of the pretraining
loss. Both are in nats, the unit of the natural logarithm. Several masks are guessed independently of each other. (Devlin et al.
2019, section 3.1)
"""


def show(result: FillResult) -> list[Any]:
    """The outputs' values: what every page with pressable tokens shows, and the measures."""
    return [*shown(result), str(figures.fill_facts(result))]


def build_fill(page: Page) -> None:
    """A sentence; its tokens to press, the predictions for those that are hidden."""
    with bench():
        with asks():
            text = control(FillParams, "text", value=EXAMPLES[0].text)
            examples = Examples({example.text: example for example in EXAMPLES})
            top_k = control(FillParams, "top_k")
            compare = gr.Dropdown(
                OTHERS,
                multiselect=True,
                allow_custom_value=True,
                max_choices=MOST_OTHERS,
                value=[],
                label="Compare with (up to two more)",
            )
            hidden = control(FillParams, "also_mask", visible="hidden")
        with shows():
            chips = token_chips(elem_id="fill-chips")
            sentence, figure = view_of("masked-predictions", figure="fill-figure")
            facts = rich_text(elem_classes=["measures"])
            comparison = Comparison()
            tries = Tries(dict(TRY))
    why("the formula and the paper", WHY)
    fill = Connection(
        page,
        FILL_MASKS,
        {"text": text, "top_k": top_k, "also_mask": hidden},
        [chips, sentence, figure, hidden, facts],
        show,
        folds(FILL_MASKS),
    )
    comparison.lay_out_folds()
    fill.on(chips.select, read=pressed_positions)
    opened = open_with(page, EXAMPLES[0], text, hidden)
    boxes = [text, hidden]
    moves = [examples.into(boxes, show_progress="full"), *tries.into(boxes, show_progress="full")]
    keep_hidden(fill, chips, text.submit, top_k.change, *opened, *moves)
    comparison.wire(page, compare, figure, [text, top_k, hidden])
