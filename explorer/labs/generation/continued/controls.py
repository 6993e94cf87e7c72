"""What the visitor asks for: the text, the decodings with their parameters, and the branch."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.generation.continued.schema import WRITER, ContinueParams
from explorer.models.families import Capability
from explorer.ui.components import rich_text
from explorer.ui.controls import control
from explorer.ui.kit import QUIET, start_stop
from explorer.ui.page import Page
from explorer.ui.used_model import USED, used_line

PARAMETERS = ("k", "p", "temperature", "beams")


def writer_box(page: Page) -> tuple[gr.Textbox, gr.HTML, list[Any]]:
    """Lay out which model writes: one that can, if the visitor comes with another.

    Returns the box with its name, a line that names it in that case, to be rendered where there is room, and the
    triggers after which both are known.
    """
    box = gr.Textbox(WRITER, label="model", visible="hidden", elem_classes=[USED])
    line = rich_text(render=False)

    def writer(chosen: str) -> list[str]:
        used = chosen if Capability.CAUSAL in page.engine.status(chosen).capabilities else WRITER
        return [used, used_line(chosen, used)]

    opened = page.opened(writer, [page.model], [box, line], **QUIET)
    chosen = [changed(lambda name: [name, ""], [page.model], [box, line], **QUIET) for changed in page.changed]
    return box, line, [event.then for event in (opened, *chosen)]  # both are filled by then


class Asked:
    """The controls of the tab."""

    def __init__(self, page: Page) -> None:
        self.model, self._line, self.able = writer_box(page)
        self.branch = gr.Textbox("", label="branch", visible="hidden")
        self.inputs: dict[str, Any] = {"model": self.model}

    def lay_out(self) -> tuple[gr.Button, gr.Button]:
        """Lay out text, Continue and Stop, decodings, and their settings, one below the other; return the two buttons."""
        self.inputs["text"] = control(ContinueParams, "text", elem_id="continue-text")
        buttons = start_stop("Continue", "continue-start")
        self.inputs["decoding"] = control(ContinueParams, "decoding", elem_id="continue-decodings")
        with gr.Column(elem_id="continue-settings"):
            for pair in (("k", "p"), ("temperature", "beams"), ("tokens", "seed")):
                with gr.Row():
                    for name in pair:
                        bounds = {"minimum": 0, "maximum": LARGEST_SEED} if name == "seed" else {}
                        self.inputs[name] = control(ContinueParams, name, min_width=125, **bounds)
        self._line.render()  # type: ignore[no-untyped-call]
        self.inputs["branch"] = self.branch
        return buttons

    def afresh(self, trigger: Any) -> Any:
        """Return the trigger after which the branch is cleared: its tokens belong to the text, and to the model,
        before.
        """
        cleared = trigger(
            fn=None, js="() => ''", inputs=None, outputs=[self.branch], queue=False, api_visibility="private"
        )
        return cleared.then
