"""Somebody else's adapter, or one's own from home: an upload that becomes a run."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.errors import BadInputError, readable
from explorer.serving.refusal import Refusal
from explorer.serving.visitors import owner_of
from explorer.ui.kit import caption
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices

HELP = (
    "A zip in peft's format (adapter_config.json and adapter_model.safetensors), such as the one prepared above. Pickles "
    "(.bin, .pt) are refused, since reading one runs the code in it; "
    "<code>python -m explorer.tuning convert old.bin new.zip</code> turns an old LoRA file into safetensors."
)


class Import:
    """The place for an adapter, and the endpoint `/import_adapter`; a file is checked and becomes the chosen run."""

    def __init__(self, page: Page, picker: RunPicker) -> None:
        self.page, self.picker = page, picker
        with gr.Accordion("Import an adapter", open=False):
            caption(HELP)
            file = gr.File(label="Adapter (zip or safetensors)", height=120)
        file.upload(
            self._take,
            [file, picker.visitor],
            [page.notice, picker.run],
            api_visibility="private",
            show_progress="minimal",
            concurrency_limit=2,
        )
        # An endpoint needs an event; nobody sees this button.
        gr.Button(visible=False).click(
            self._endpoint,
            inputs_kwargs={"file": file, "visitor": picker.visitor},
            outputs=[gr.Textbox(visible=False, label="run")],
            api_name="import_adapter",
            api_description=(
                "Keep an adapter in peft's format (zip or safetensors, no pickle) as a run, once it has been checked. Answers "
                "with the run's id. "
            ),
            concurrency_limit=2,
        )

    def _import(self, path: str | None, owner: str) -> str:
        if not path:
            raise BadInputError("No file came with the request.")
        return self.page.engine.runs.import_adapter(path, owner)

    def _take(self, path: str | None, visitor: str, request: gr.Request) -> list[Any]:
        if path is None:
            return [gr.skip(), gr.skip()]
        owner = owner_of(self.page.engine.runs, visitor, request)
        try:
            run_id = self._import(path, owner)
        except Exception as error:
            return [self.page.explain(readable(error)), gr.skip()]
        return [
            "",
            gr.update(
                # This page shows no runs from nothing.
                choices=run_choices([one for one in self.page.engine.runs.list(owner) if not one.from_nothing]),
                value=run_id,
            ),
        ]

    def _endpoint(self, file: str | None, visitor: str, request: gr.Request) -> str:
        try:
            return self._import(file, owner_of(self.page.engine.runs, visitor, request))
        except Exception as error:
            raise Refusal(error) from None
