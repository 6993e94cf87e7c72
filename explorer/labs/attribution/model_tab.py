"""A model's own prediction: a mask, a pair of texts, replaced tokens or the next token, whatever its head is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.attribution import ATTRIBUTE
from explorer.labs.attribution.bench import OPENING, PRIVATE, Bench
from explorer.labs.attribution.examples import EXAMPLES, TRY, fitting
from explorer.labs.attribution.params import AttributeParams
from explorer.ui.components import token_chips
from explorer.ui.controls import control
from explorer.ui.page import Page


def build_model(page: Page, explain: Callable[[], None]) -> None:
    """Lay out and wire the tab. explain: lays out the page's Why."""
    bench, opening = Bench("attribution"), EXAMPLES[0]
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=270):
            text = control(AttributeParams, "text", value=opening.text, elem_id="attribution-input")
            examples = gr.Dropdown(
                [(example.title, number) for number, example in enumerate(EXAMPLES)],
                value=0,
                label="Examples",
                filterable=False,
            )
            second = control(AttributeParams, "second")
            places = token_chips(elem_id="attribution-places")
            position = gr.Textbox("", label="position", visible="hidden")
            bench.lay_out_choices()
        with gr.Column(scale=2, min_width=320):
            bench.lay_out_figures()
            with gr.Row(elem_classes=["try"]):
                gr.HTML('<span class="try-label">Try</span>')
                tries = [gr.Button(name, size="sm") for name, _, _ in TRY]
    bench.lay_out_comparison()
    explain()
    visitor = gr.Textbox("", label="visitor", visible="hidden")
    inputs = {"text": text, **bench.choices, "second": second, "position": position}
    order = ("text", "target", "method", "second", "baseline", "steps", "position", "by")
    stream = bench.stream(page, ATTRIBUTE, {name: inputs[name] for name in order}, visitor, (places, position))
    boxes = [text, second, bench.target, position]

    def fresh(standing: str, other: str, target: str, model: str) -> tuple[Any, ...]:
        example = fitting(standing, page.executor.status(model).capabilities)
        return (*_put(example), "") if example else (standing, other, target, "")

    opened = [ready(fresh, [text, second, bench.target, page.model], boxes, **PRIVATE).then for ready in page.ready]
    asked = [
        trigger(_still_asked, [text, second, places, position], [position], **PRIVATE).then
        for trigger in (*bench.triggers, text.submit, second.submit)
    ]
    picked = examples.input(lambda number: (*_put(EXAMPLES[number]), ""), [examples], boxes, **PRIVATE)
    tried = [
        button.click(_fixed(example, methods), None, [*boxes, bench.method], **PRIVATE).then
        for button, (_, example, methods) in zip(tries, TRY, strict=True)
    ]
    pressed = places.select(_pressed, [position], [position], **PRIVATE)
    bench.wire(stream, *opened, *asked, picked.then, *tried, pressed.then)


def _still_asked(text: str, second: str, places: Any, position: str) -> str:
    """The position that is asked about, unless the text has become another one since."""
    return position if (places or {}).get("of") == [text, second] else ""


def _pressed(before: str, event: gr.EventData) -> str:
    """The token that was pressed now: the chips report all that are pressed."""
    others = [str(position) for position in event._data["positions"] if str(position) != before]
    return others[0] if others else before


def _put(example: Any) -> tuple[str, str, str]:
    return example.text, example.second, example.target


def _fixed(example: Any, methods: tuple[str, ...] = tuple(OPENING)) -> Any:
    return lambda: (*_put(example), "", list(methods))
