"""Fill: a sentence, its tokens to press, the predictions as bars, other models beside."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer.action import SAVE_BESIDE_THE_PACKAGE
from explorer.engine.protocol import answer
from explorer.errors import readable
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking import fill_figures as figures
from explorer.labs.masking.fill_said_figures import fill_sentence
from explorer.labs.masking.schema import EXAMPLES, LOOKING, TRY, FillParams, FillResult
from explorer.models.catalog import all_with
from explorer.models.families import Capability
from explorer.ui.components import plot, rich_text, token_chips
from explorer.ui.controls import control
from explorer.ui.hiding import hidden_now, keep_hidden, open_with, pressed_positions
from explorer.ui.kit import Examples, Tries, View, inputs_column, outputs_column, sentence_place, two_columns, why
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, folds, page_frame

MOST_OTHERS = 2

SCRIPT = """{where}
import explorer

for model in {models!r}:
    print(model)
    print(explorer.run("fill_masks", model=model, {given}))
"""


class Comparison:
    """A figure and its sentence, hidden until a second model is chosen; `lay_out_folds` adds its table and script."""

    def __init__(self) -> None:
        self.figure = plot("model-comparison", elem_id="fill-comparison")
        self.said = sentence_place()

    def lay_out_folds(self) -> None:
        """Lay out the table and the script, after those of the tab's own figure."""
        with gr.Column(visible=False) as self.more:
            self.folded = folds("comparison", "comparison")

    def wire(self, page: Page, compare: gr.Dropdown, figure: gr.HTML, inputs: list[Any]) -> None:
        """Run whenever the choice or the main figure changes.

        inputs: text, top_k, what is hidden, words, and in_view.
        """

        async def respond(
            model: str, others: list[str] | None, text: str, top_k: int, hidden: str, words: str, in_view: bool
        ) -> list[Any]:
            nothing = [gr.update(visible=False), "", {"headers": [], "data": []}]
            if not others:
                return [{}, "", *nothing]
            try:
                params = FillParams(text, top_k, tuple(hidden.split(",")), (), words, in_view)
                return await self._answer(page, [model, *others][: MOST_OTHERS + 1], params)
            except Exception as error:
                return [{}, page.explain(readable(error)), *nothing]

        gr.on(
            [compare.change, figure.change],  # the figure is new once its own answer is there
            respond,
            inputs=[page.model, compare, *inputs],
            outputs=[self.figure, self.said, self.more, self.folded.script, self.folded.table],
            api_visibility="private",
            queue=False,
            concurrency_limit=None,
            show_progress="hidden",
            trigger_mode="always_last",  # of several quick changes the last one counts
        )

    @staticmethod
    async def _answer(page: Page, models: list[str], params: FillParams) -> list[Any]:
        """Answer for all models: the first one's hidden tokens, as characters of the text, are what is hidden from the
        others.
        """
        first: FillResult = await answer(page.engine, FILL_MASKS.job, params, models[0])
        spans = tuple((token.start, token.stop) for token in first.tokens if token.state == "masked")
        same = replace(params, also_mask=(), spans=spans)  # positions are each model's own; characters are not
        rest = [answer(page.engine, FILL_MASKS.job, same, model) for model in models[1:]]
        results = [first, *await asyncio.gather(*rest)]
        given = [("text", same.text), ("top_k", same.top_k), ("spans", same.spans)]
        given += [("words", same.words)] if same.words else []
        given += [("in_view", True)] if same.in_view else []
        script = SCRIPT.format(
            where=SAVE_BESIDE_THE_PACKAGE, models=models, given=", ".join(f"{name}={value!r}" for name, value in given)
        )
        return [
            figures.compare_figure(results),
            str(figures.compare_sentence(results)),
            gr.update(visible=True),
            script,
            page_frame(figures.compare_table(results)),
        ]


OTHERS = all_with(Capability.MLM)

WHY = r"""
BERT reads the whole sentence at once, to the left and to the right of the blank. Its masked-language-model head turns the
hidden state $h_i$ at a masked position into one score for each token $v$ of the vocabulary, and the softmax of the scores is

$$p(v \mid \text{context}) = \frac{\exp(e_v^\top g(h_i) + b_v)}{\sum_u \exp(e_u^\top g(h_i) + b_u)}$$

where $g$ is a dense layer with GELU and LayerNorm and $e_v$ is the *same* embedding that the input uses (tied weights). The
**entropy** $-\sum_v p(v)\ln p(v)$ says how undecided the model is; $-\ln p$ of the hidden token is its term of the pretraining
loss. Both are in nats, the unit of the natural logarithm. Several masks are guessed independently of each other. (Devlin et al.
2019, section 3.1)

BERT can be asked at a token that is **left in view**, too. Of the tokens that it had to name in training one in ten stood as it
was and one in ten had been replaced by another: so it mostly repeats what it reads, and puts a better word where it doubts it.
"""


def build_fill(page: Page) -> None:
    """Fill and wire the tab: a sentence; its tokens to press, the predictions for those that are hidden."""
    with two_columns():
        with inputs_column():
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
            words = control(FillParams, "words")
            in_view = control(FillParams, "in_view")
            hidden = control(FillParams, "also_mask", visible="hidden")  # filled by presses on the chips
        with outputs_column():
            chips = token_chips(elem_id="fill-chips")
            view = View("masked-predictions", (None, "fill-figure"), fill_sentence, figures.fill_figure)
            facts = rich_text(elem_classes=["measures"])
            comparison = Comparison()
            tries = Tries({**{name: (*example, "", False) for name, example in TRY}, **dict(LOOKING)})
    why("the formula and the paper", WHY)
    shown = [(chips, figures.fill_chips), *view, (hidden, hidden_now), (facts, figures.fill_facts)]
    inputs = {"text": text, "top_k": top_k, "also_mask": hidden, "words": words, "in_view": in_view}
    fill = Connection(page, FILL_MASKS, inputs, shown)
    comparison.lay_out_folds()
    fill.on(chips.select, read=pressed_positions)
    opened = open_with(page, EXAMPLES[0].text, EXAMPLES[0].hidden, text, hidden)
    boxes = [text, hidden]
    moves = [examples.into(boxes, show_progress="full"), *tries.into([*boxes, words, in_view], show_progress="full")]
    changes = [text.submit, top_k.change, words.submit, in_view.input]
    keep_hidden(fill, chips, *changes, *opened, *moves)
    page.also.append(("compare", compare))
    comparison.wire(page, compare, view.figure, [text, top_k, hidden, words, in_view])
