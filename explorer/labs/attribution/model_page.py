"""A model's own prediction: a mask, a pair of texts, replaced tokens or the next token, whatever its head is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.attribution import ATTRIBUTE, figures
from explorer.labs.attribution.controls import Bench
from explorer.labs.attribution.examples import EXAMPLES, TRY, Example, fitting
from explorer.labs.attribution.params import AttributeParams
from explorer.ui.components import token_chips
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, Examples, Tries, inputs_column, outputs_column, two_columns
from explorer.ui.outputs import Output
from explorer.ui.page import Page


def build_model(page: Page, explain: Callable[[], None]) -> None:
    """Fill and wire the tab. explain: lays out the page's Why."""
    shared, opening = Bench("attribution"), EXAMPLES[0]
    with two_columns():
        with inputs_column():
            text = control(AttributeParams, "text", value=opening.text, elem_id="attribution-input")
            examples = Examples({example.title: _put(example) for example in EXAMPLES})
            second = control(AttributeParams, "second")
            places = token_chips(elem_id="attribution-places")
            # Filled by presses on the chips, and by each answer.
            position = gr.Textbox("", label="position", visible="hidden")
            shared.lay_out_choices()
        with outputs_column():
            shared.lay_out_figures()
            tries = Tries({name: [*_put(example), list(methods)] for name, example, methods in TRY})
    shared.lay_out_comparison()
    explain()
    inputs = {"text": text, **shared.choices, "second": second, "position": position}
    # The order in which the endpoint takes them.
    order = ("text", "target", "method", "second", "baseline", "steps", "position", "by")
    asked_of: Output = (position, lambda result: str(result.asked.fixed.place))
    stream = shared.stream(
        page, ATTRIBUTE, {name: inputs[name] for name in order}, (places, figures.place_chips), asked_of
    )
    boxes = [text, second, shared.target, position]

    def fresh(standing: str, other: str, target: str, model: str) -> tuple[Any, ...]:
        # The picked model may lack the head that the standing example needs.
        example = fitting(standing, page.engine.status(model).capabilities)
        return _put(example) if example else (standing, other, target, "")

    opened = [ready(fresh, [text, second, shared.target, page.model], boxes, **QUIET).then for ready in page.ready]
    asked = [
        trigger(_still_asked, [text, second, places, position], [position], **QUIET).then
        # Before each question: the position that the last answer left may be another text's.
        for trigger in (*shared.triggers, text.submit, second.submit)
    ]
    picked = examples.into(boxes)
    tried = tries.into([*boxes, shared.method])
    pressed = places.select(_pressed, [position], [position], **QUIET)
    asked += [picked, *tried, pressed.then]
    stream.opens(*opened, note=shared.progress, start=str(shared.start.value), asked=asked)
    shared.wire(stream, *asked)


def _still_asked(text: str, second: str, places: Any, position: str) -> str:
    """Return the position that is asked about, or "" if the text has changed since."""
    return position if (places or {}).get("of") == [text, second] else ""


def _pressed(before: str, event: gr.EventData) -> str:
    """Return the token that was pressed now: the chips report all that are pressed."""
    others = [str(position) for position in event.positions if str(position) != before]
    return others[0] if others else before


def _put(example: Example) -> tuple[str, str, str, str]:
    """Return text, second text, target, and no position."""
    return example.text, example.second, example.target, ""
