"""Offers what an action writes as a file: behind a button on its page, and as an endpoint that raises."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.action import Action
from explorer.engine.protocol import answer
from explorer.errors import readable
from explorer.serving.refusal import Refusal
from explorer.ui.page import Page
from explorer.ui.signatures import for_clients, named


def hand_over(page: Page, action: Action, inputs: dict[str, Any], button: gr.Button, file: gr.File) -> None:
    """Fill `file` when the button is pressed; a refusal goes to the notice."""

    async def path_of(given: dict[str, Any]) -> str:
        asked = action.params(**{name: value or "" for name, value in given.items()})  # an empty component has None
        return str(await answer(page.engine, action.job, asked))

    async def export(**given: Any) -> list[Any]:
        try:
            return ["", gr.update(value=await path_of(given), visible=True)]
        except Exception as error:
            return [page.explain(readable(error)), gr.skip()]

    async def endpoint(**given: Any) -> str:
        try:
            return await path_of(given)
        except Exception as error:
            raise Refusal(error) from None

    names = list(inputs)
    shown: dict[str, Any] = {"outputs": [page.notice, file], "api_visibility": "private", "concurrency_limit": 4}
    button.click(named(export, names), inputs_kwargs=inputs, **shown)
    # An endpoint of its own: the page's must not raise, and a client's must.
    gr.Button(visible=False).click(
        named(endpoint, names),
        inputs_kwargs=for_clients(inputs, action.params),
        outputs=[file],
        api_name=action.name,
        concurrency_limit=4,
    )
