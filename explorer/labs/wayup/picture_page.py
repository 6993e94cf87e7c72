"""The picture of a text's way up, laid out and wired; the front page has it too."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.wayup import WHOLE_PASS, figures
from explorer.labs.wayup.schema import PassParams, PassResult
from explorer.ui.components import drawing, token_chips
from explorer.ui.controls import control
from explorer.ui.hiding import still_hidden
from explorer.ui.outputs import Output
from explorer.ui.page import Page
from explorer.ui.wiring import Connection, Panel


class WayUp:
    """The picture over a row of chips, and the layer that is opened below them.

    name: the beginning of the ids. Laid out where it is made; `connect` wires it once the rest of the page stands.
    """

    def __init__(self, name: str) -> None:
        with gr.Column(elem_classes=["way-stack"]):
            self.picture = drawing("way", after=("stepper", "overchips"), elem_id=f"{name}-figure")
            self.chips = token_chips(elem_id=f"{name}-chips")
        self.layer_view = drawing("waylayer", elem_id=f"{name}-layer", elem_classes=["way-opened"])
        self.looked_at = {kind: control(PassParams, kind, visible="hidden") for kind in ("position", "layer", "head")}

    def connect(
        self,
        page: Page,
        text: gr.Textbox,
        hidden: gr.Textbox,
        shown: list[Output],
        folded: Panel | None,
        triggers: list[Any],
        publish: bool = True,
    ) -> Connection:
        """Wire the picture to a text and what is hidden in it. triggers: after which one of these may be another."""
        inputs = {"text": text, "also_mask": hidden, **self.looked_at}
        drawn: list[Output] = [*shown, (self.picture, figures.way), (self.layer_view, figures.opened)]
        steered: list[Output] = [([*self.looked_at.values()], _looked_at)]
        pass_ = Connection(page, WHOLE_PASS, inputs, drawn, folded, steered=steered, publish=publish)
        pass_.on(self.chips.select, read=_hides)
        pass_.on(self.picture.select, self.layer_view.select, read=_looks)
        pass_.on(*triggers, extra={"chips": self.chips}, adapt=_fitting)
        return pass_


def _hides(event: gr.EventData) -> dict[str, Any]:
    """Return what is hidden now; the word that was hidden just now is the one to follow."""
    hidden = list(event.positions)
    return {"also_mask": hidden, "position": event.last if event.last in hidden else -1}


def _looks(event: gr.EventData) -> dict[str, Any]:
    """Return the place, the layer or the head that was pressed, as the scripts report it; -1 is none."""
    given = {kind: getattr(event, kind, None) for kind in ("position", "layer", "head")}
    return {kind: int(value) for kind, value in given.items() if value is not None}


def _looked_at(result: PassResult) -> list[Any]:
    place = result.position if result.wished else -1
    layer = -1 if result.opened is None else result.opened.layer
    return [place, layer, result.layers[0].head if result.chosen else -1]


def _fitting(values: dict[str, Any]) -> dict[str, Any]:
    """Forget the place that was pressed where another text or model is asked, whose places are others."""
    source = (values["chips"] or {}).get("source")
    same = not source or (source.get("text"), source.get("model")) == (values["text"], values["model"])
    return still_hidden(values if same else values | {"position": -1})
