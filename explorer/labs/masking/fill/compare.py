"""The same masks by up to three models, beside each other."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import gradio as gr

from explorer.action import SAVE_BESIDE_THE_PACKAGE
from explorer.engine.protocol import answer
from explorer.errors import readable
from explorer.labs.masking import FILL_MASKS
from explorer.labs.masking.fill import figures
from explorer.labs.masking.schema import FillParams, FillResult
from explorer.ui.components import plot
from explorer.ui.kit import sentence_place
from explorer.ui.page import Page
from explorer.ui.wiring import folds, page_frame

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
