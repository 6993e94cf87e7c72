"""What the visitor asks for: the text, the decodings with their parameters, and the branch."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.kinds import LARGEST_SEED
from explorer.labs.generation.continued.schema import WRITER, ContinueParams
from explorer.models.families import Capability
from explorer.ui.controls import control
from explorer.ui.kit import QUIET
from explorer.ui.page import Page

PARAMETERS = ("k", "p", "temperature", "beams")


class Asked:
    """The controls of the tab."""

    def __init__(self) -> None:
        self.model = gr.Textbox(WRITER, label="model", visible="hidden")
        self.branch = gr.Textbox("", label="branch", visible="hidden")
        self.inputs: dict[str, Any] = {"model": self.model}

    def lay_out(self) -> None:
        """Text, decodings, length and seed, one below the other."""
        self.inputs["text"] = control(ContinueParams, "text", elem_id="continue-text")
        self.inputs["decoding"] = control(ContinueParams, "decoding", elem_id="continue-decodings")
        with gr.Row(elem_classes=["pair"]):
            for name in PARAMETERS:
                self.inputs[name] = control(ContinueParams, name, min_width=120)
            self.inputs["tokens"] = control(ContinueParams, "tokens", min_width=120)
            self.inputs["seed"] = control(
                ContinueParams, "seed", minimum=0, maximum=LARGEST_SEED, min_width=120, elem_id="continue-seed"
            )
        self.inputs["branch"] = self.branch

    def able(self, page: Page) -> list[Any]:
        """Triggers after which it is known which model writes: one that can is taken where the visitor comes with another."""

        def writer(chosen: str) -> str:
            return chosen if Capability.CAUSAL in page.engine.status(chosen).capabilities else WRITER

        opened = page.opened(writer, [page.model], [self.model], **QUIET)
        chosen = [changed(lambda name: name, [page.model], [self.model], **QUIET) for changed in page.changed]
        return [event.then for event in (opened, *chosen)]

    def afresh(self, trigger: Any) -> Any:
        """The trigger after which the branch is cleared: its tokens belong to the text, and to the model, before."""
        cleared = trigger(
            fn=None, js="() => ''", inputs=None, outputs=[self.branch], queue=False, api_visibility="private"
        )
        return cleared.then
