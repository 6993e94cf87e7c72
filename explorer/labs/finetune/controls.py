"""The settings of a run as a page offers them, with an explanation of the chosen method."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.finetune.uploads import RealTask, Upload
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tuning.methods import METHODS, Method, find_method
from explorer.tuning.spec import TARGETS
from explorer.ui.page import Page
from explorer.ui.wiring import LATEX

TARGET_TITLES = {
    "query": "query",
    "key": "key",
    "value": "value",
    "output": "output",
    "ffn_in": "FFN in",
    "ffn_out": "FFN out",
}
VARIANT_CHOICES = [("LoRA", "lora"), ("rsLoRA", "rslora"), ("DoRA", "dora"), ("PiSSA", "pissa")]


def explanation(method: Method) -> str:
    """What a method does, its formula, and where it comes from."""
    return f"{method.summary}\n\n$${method.formula}$$\n\n*{method.source}*"


class Controls:
    """Everything that a run can be asked for; `inputs` has the components by RunSpec's field names."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.task = gr.Dropdown(
            choices(settings()), value="sst2", label="Task", allow_custom_value=True, elem_id="task-picker"
        )
        self.real = RealTask(self.task)
        self.method = gr.Dropdown(
            [(method.title, method.slug) for method in METHODS],
            value="lora",
            label="Method",
            filterable=False,
            elem_id="method-picker",
        )
        with gr.Group() as self.lora:
            self.rank = gr.Slider(1, 128, 8, step=1, label="Rank r", elem_id="rank")
            self.targets = gr.CheckboxGroup(
                [(TARGET_TITLES[name], name) for name in TARGETS], value=["query", "value"], label="Adapted matrices"
            )
        with gr.Group(visible=False) as self.prefix:
            self.prefix_length = gr.Slider(1, 64, 16, step=1, label="Virtual tokens")
        with gr.Group(visible=False) as self.adapter:
            self.bottleneck = gr.Slider(1, 256, 32, step=1, label="Bottleneck width")
        self.upload = Upload(page, self.task)
        with gr.Accordion("Training settings", open=False):
            self.learning_rate = gr.Number(
                find_method("lora").learning_rate, label="Learning rate", info=self._rate_info("lora")
            )
            self.epochs = gr.Slider(1, 20, 3, step=1, label="Epochs")
            self.batch_size = gr.Slider(1, 64, 16, step=1, label="Batch size")
            self.examples = gr.Number(0, precision=0, label="Training examples", info="0 takes all of them.")
            self.seed = gr.Number(0, precision=0, label="Seed")
            self.alpha = gr.Number(16, label="LoRA alpha", info="The update is scaled by alpha / r.")
            self.variant = gr.Dropdown(VARIANT_CHOICES, value="lora", label="LoRA variant", filterable=False)
            self.dropout = gr.Slider(0, 0.5, 0, step=0.05, label="Dropout in LoRA or the adapters")
        with gr.Accordion("How this method works", open=False):
            self.explained = gr.Markdown(explanation(find_method("lora")), latex_delimiters=LATEX)

    @property
    def inputs(self) -> dict[str, Any]:
        """In the order of the endpoint's parameters."""
        names = [
            *(
                "task",
                "method",
                "rank",
                "alpha",
                "targets",
                "learning_rate",
                "epochs",
                "batch_size",
                "examples",
                "seed",
            ),
            *("variant", "dropout", "prefix_length", "bottleneck"),
        ]
        return {name: getattr(self, name) for name in names}

    def wire(self) -> None:
        """Show what the chosen method reads, and hide what it does not; a visitor's choice also sets its learning rate."""
        private: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}
        shown = [self.lora, self.prefix, self.adapter, self.explained, self.learning_rate]
        self.real.wire(self.upload.place)
        self.method.change(self._choose, [self.method], shown, **private)
        self.method.input(lambda slug: find_method(slug).learning_rate, [self.method], [self.learning_rate], **private)

    @staticmethod
    def _rate_info(slug: str) -> str:
        return f"This method's own is {find_method(slug).learning_rate:g}."

    def _choose(self, slug: str) -> list[Any]:
        method = find_method(slug)
        return [
            gr.update(visible="rank" in method.options),
            gr.update(visible=method.has_virtual_tokens),
            gr.update(visible="bottleneck" in method.options),
            explanation(method),
            gr.update(info=self._rate_info(slug)),
        ]
