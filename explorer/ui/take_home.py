"""What a visitor takes home of a tab: a report that opens without a network, or a notebook.

The browser makes both of what stands on the page (assets/report.js). What it doesn't have, the tables and the scripts of
folds that were never opened, comes with one event of the page, for all its tabs.
"""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.ui.address import Address
from explorer.ui.components import QUIET
from explorer.ui.kept_controls import Place
from explorer.ui.page import Page

WHY = "Why: "

LINE = Markup(
    '<p class="take-home">Take this home: '
    '<button type="button" class="plain" data-take="report">report (HTML)</button> '
    '<button type="button" class="plain" data-take="notebook">notebook (.ipynb)</button> '
    '<span role="status"></span></p>'
)
"""The line at a tab's foot."""


def lay_out_take_home(blocks: gr.Blocks, address: Address, page: Page) -> None:
    """Lay out, unseen, what hands a page's tables, scripts and explanations to the browser when it asks."""
    inputs: list[Any] = []

    def given(part: Any) -> int | None:
        if part is not None:
            inputs.append(part)
        return len(inputs) - 1 if part is not None else None

    asked: dict[int, dict[str, Any]] = {}
    for binding in page.bindings:
        folded = binding.folded
        shown = [_name(part) for part in _drawn(binding)]
        if folded.table._id in asked:
            asked[folded.table._id]["shown"] += shown
            continue
        place = address.place(folded.table)
        asked[folded.table._id] = {
            "name": binding.action.name,
            "tabs": place,
            "title": " › ".join(address.title(step) for step in place),
            "shown": shown,
            "table": given(folded.table),
            "script": given(folded.script),
            "plain": given(folded.plain),
        }
    whys = [
        {"title": str(part.label), "tabs": address.place(part), "text": given(child)}
        for part in blocks.blocks.values()
        if isinstance(part, gr.Accordion) and part.page == blocks.current_page and str(part.label).startswith(WHY)
        for child in part.children
        if isinstance(child, gr.Markdown)
    ]
    if not asked:
        return
    spec = json.dumps({"asked": [*asked.values()], "whys": whys})
    ask = gr.Button("", visible="hidden", elem_id="take-home-ask")
    ask.click(fn=None, js=f"(...values) => window.explorerReport.take({spec}, values)", inputs=inputs, **QUIET)


def places_taken(address: Address, page: Page) -> set[str]:
    """Return the outermost tabs of which something can be taken home; an empty name stands for a page without tabs."""
    places: list[Place] = [address.place(binding.folded.table) for binding in page.bindings]
    return {place[0][1] if place else "" for place in places}


def _drawn(binding: Any) -> list[gr.HTML]:
    """Return the places of a question's sentences, figures and tokens."""
    places = [*binding.shown.components, *binding.steered.components]
    return [part for part in places if isinstance(part, gr.HTML)]


def _name(part: Any) -> str:
    """Return the id of a component's element on the page: Gradio gives HTML none of its own."""
    part.elem_id = part.elem_id or f"shown-{part._id}"
    return str(part.elem_id)
