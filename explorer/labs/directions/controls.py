"""A sentence, its words to press, and the position of the one that is asked about: what two tabs have."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.directions.examples import EXAMPLES
from explorer.labs.directions.schema import DirectionsParams
from explorer.ui.components import token_chips
from explorer.ui.controls import control
from explorer.ui.kit import Examples, Tries
from explorer.ui.outputs import Output
from explorer.ui.wiring import Connection


class Asked:
    """The controls of one tab; `name` begins their ids. The chips are laid out where the figures stand."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = control(DirectionsParams, "text", elem_id=f"{name}-input")
        self.examples = Examples({title: values for title, *values in EXAMPLES})
        # Filled by presses on the chips, and by each answer.
        self.position = gr.Textbox("", label="position", visible="hidden")

    def lay_out_chips(self) -> gr.HTML:
        """Lay out the place for the sentence's tokens."""
        self.chips = token_chips(elem_id=f"{self.name}-chips")
        return self.chips

    @property
    def standing(self) -> Output:
        """What fills the position box: the position of the word that was taken, though none was named."""
        return self.position, lambda result: str(result.position)

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs by the parameters' names."""
        return {"text": self.text, "position": self.position}

    def wire(self, connection: Connection, *triggers: Any, tries: Tries | None = None) -> list[Any]:
        """Run when a trigger fires, when another sentence is typed or picked, or a word is pressed. Return these
        events.
        """
        boxes = [self.text, self.position]
        picked = [self.examples.into(boxes), *(tries.into(boxes) if tries else ())]
        events = connection.on(*triggers, self.text.submit, extra={"chips": self.chips}, adapt=_still_asked)
        events += connection.on(self.chips.select, read=_pressed)
        return events + connection.on(*picked)


def _still_asked(values: dict[str, Any]) -> dict[str, Any]:
    """Drop a position that is of another sentence than the chips show; the new one has a word of its own."""
    shown = (values.pop("chips") or {}).get("of")
    # Before the first answer there are none: the position came with the sentence, from the page's address.
    return values if shown in (None, values["text"]) else values | {"position": None}


def _pressed(event: gr.EventData) -> dict[str, Any]:
    """Return the word that was pressed; the one that is asked about cannot be."""
    return {"position": event.positions[0]}
