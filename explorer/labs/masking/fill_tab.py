"""Fill: a sentence, its tokens to press, the predictions as bars, other models beside."""

from __future__ import annotations

import asyncio
from typing import Any

import gradio as gr

from explorer.errors import readable
from explorer.labs.masking import FILL_MASKS, figures
from explorer.labs.masking.examples import EXAMPLES, TRY, Example
from explorer.labs.masking.fill_events import keep_hidden, open_with, pressed_positions
from explorer.labs.masking.schema import FillParams, FillResult
from explorer.models.architectures import Capability
from explorer.models.catalog import CATALOG
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.page import Page
from explorer.ui.wiring import LATEX, Connection, folds

OTHERS = [card.model_id for card in CATALOG if Capability.MLM in card.capabilities]
MOST_OTHERS = 2

WHY = r"""
BERT reads the whole sentence at once, to the left and to the right of the blank. Its masked-language-model head turns the
hidden state $h_i$ at a masked position into one score for each token $v$ of the vocabulary, and the softmax of the scores is

$$p(v \mid \text{context}) = \frac{\exp(e_v^\top g(h_i) + b_v)}{\sum_u \exp(e_u^\top g(h_i) + b_u)}$$

where $g$ is a dense layer with GELU and LayerNorm and $e_v$ is the *same* embedding that the input uses (tied weights). The
**entropy** $-\sum_v p(v)\log_2 p(v)$ says how undecided the model is, in bits; $-\ln p$ of the hidden token is its term of the
pretraining loss. Several masks are guessed independently of each other. (Devlin et al. 2019, section 3.1)
"""


def show(result: FillResult) -> list[Any]:
    """The outputs' values: chips, sentence, figure, facts, and which positions are hidden now."""
    hidden = ", ".join(str(token.position) for token in result.tokens if token.state == "masked")
    return [
        figures.fill_chips(result),
        str(figures.fill_sentence(result)),
        figures.fill_figure(result),
        str(figures.fill_facts(result)),
        hidden,
    ]


def build_fill(page: Page) -> None:
    """Lay out and wire the tab."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            text = gr.Textbox(
                EXAMPLES[0].text,
                label="Sentence",
                info="Press Enter to read it. Type [MASK] for a blank, or press a token to hide it.",
                lines=1,
                max_lines=5,
            )
            examples = gr.Dropdown(
                [(example.text, number) for number, example in enumerate(EXAMPLES)],
                value=0,
                label="Examples",
                filterable=False,
            )
            top_k = gr.Slider(1, 20, 5, step=1, label="Predictions for each blank")
            compare = gr.Dropdown(
                OTHERS, multiselect=True, max_choices=MOST_OTHERS, value=[], label="Compare with (up to two more)"
            )
            hidden = gr.Textbox("", visible="hidden", label="also_mask")
        with gr.Column(scale=2, min_width=320):
            chips = token_chips(elem_id="fill-chips")
            sentence = rich_text(elem_classes=["said"])
            figure = plot("masked-predictions", elem_id="fill-figure")
            facts = rich_text(elem_classes=["measures"])
            comparison = plot("model-comparison", elem_id="fill-comparison")
            compared = gr.HTML("", elem_classes=["said"])
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                buttons = [gr.Button(name, size="sm") for name, _ in TRY]
    with gr.Accordion("Why: the formula and the paper", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)
    fill = Connection(
        page,
        FILL_MASKS,
        {"text": text, "top_k": top_k, "also_mask": hidden},
        [chips, sentence, figure, facts, hidden],
        show,
        folds(FILL_MASKS),
    )
    fill.on(chips.select, read=pressed_positions)
    moves = [text.submit, top_k.release, *open_with(page, EXAMPLES[0], text, hidden)]
    picked = examples.input(_example, [examples], [text, hidden], api_visibility="private", queue=False)
    moves.append(picked.then)
    for button, (_, example) in zip(buttons, TRY, strict=True):
        tried = button.click(_fixed(example), None, [text, hidden], api_visibility="private", queue=False)
        moves.append(tried.then)
    keep_hidden(fill, chips, *moves)
    _wire_comparison(page, compare, figure, [text, top_k, hidden], [comparison, compared])


def _example(number: int) -> tuple[str, str]:
    return EXAMPLES[number].text, EXAMPLES[number].hidden


def _fixed(example: Example) -> Any:
    return lambda: (example.text, example.hidden)


def _wire_comparison(page: Page, compare: gr.Dropdown, figure: gr.HTML, inputs: list[Any], outputs: list[Any]) -> None:
    """Run the same masks through other models whenever the main figure or the choice changes."""

    async def respond(model: str, others: list[str] | None, text: str, top_k: int, hidden: str) -> list[Any]:
        if not others:
            return [{}, ""]
        try:
            params = FillParams(text, top_k, tuple(hidden.split(",")))
            results = await _fill_with_all(page, [model, *others][: MOST_OTHERS + 1], params)
        except Exception as error:
            return [{}, page.explain(readable(error))]
        return [figures.compare_figure(results), str(figures.compare_sentence(results))]

    gr.on(
        [compare.input, figure.change],
        respond,
        inputs=[page.model, compare, *inputs],
        outputs=outputs,
        api_visibility="private",
        queue=False,
        concurrency_limit=None,
        show_progress="hidden",
        trigger_mode="always_last",
    )


async def _fill_with_all(page: Page, models: list[str], params: FillParams) -> list[FillResult]:
    """The first model's hidden tokens, as characters of the text, are what is hidden from the others."""
    first: FillResult = await asyncio.wrap_future(page.executor.submit(FILL_MASKS.job, models[0], params))
    spans = tuple((token.start, token.stop) for token in first.tokens if token.state == "masked")
    same = FillParams(params.text, params.top_k, spans=spans)
    rest = [asyncio.wrap_future(page.executor.submit(FILL_MASKS.job, model, same)) for model in models[1:]]
    return [first, *await asyncio.gather(*rest)]
