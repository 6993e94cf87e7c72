"""Fill: a sentence, its tokens to press, the predictions as bars, other models beside."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.masking import FILL_MASKS, figures
from explorer.labs.masking.compare import MOST_OTHERS, Comparison
from explorer.labs.masking.examples import EXAMPLES, TRY, Example
from explorer.labs.masking.fill_events import keep_hidden, open_with, pressed_positions, shown
from explorer.labs.masking.schema import FillParams, FillResult
from explorer.models.catalog import CATALOG
from explorer.models.families import Capability
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.controls import control
from explorer.ui.page import Page
from explorer.ui.wiring import LATEX, Connection, folds

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
    """Lay out and wire the tab."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            text = control(FillParams, "text", value=EXAMPLES[0].text)
            examples = gr.Dropdown(
                [(example.text, number) for number, example in enumerate(EXAMPLES)],
                value=0,
                label="Examples",
                filterable=False,
            )
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
        with gr.Column(scale=2, min_width=320):
            chips = token_chips(elem_id="fill-chips")
            sentence = rich_text(elem_classes=["said"])
            figure = plot("masked-predictions", elem_id="fill-figure")
            facts = rich_text(elem_classes=["measures"])
            comparison = Comparison()
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                buttons = [gr.Button(name, size="sm") for name, _ in TRY]
    with gr.Accordion("Why: the formula and the paper", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)
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
    moves = [text.submit, top_k.change, *open_with(page, EXAMPLES[0], text, hidden)]
    picked = examples.input(_example, [examples], [text, hidden], api_visibility="private", queue=False)
    moves.append(picked.then)
    for button, (_, example) in zip(buttons, TRY, strict=True):
        tried = button.click(_fixed(example), None, [text, hidden], api_visibility="private", queue=False)
        moves.append(tried.then)
    keep_hidden(fill, chips, *moves)
    comparison.wire(page, compare, figure, [text, top_k, hidden])


def _example(number: int) -> tuple[str, str]:
    return EXAMPLES[number].text, EXAMPLES[number].hidden


def _fixed(example: Example) -> Any:
    return lambda: (example.text, example.hidden)
