"""The settings of a run as a page offers them, with an explanation of the chosen method."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.labs.finetune.card_page import build_card
from explorer.labs.finetune.uploads import RealTask, Upload
from explorer.runs.record import RunRecord
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tasks.sources import kind_of as kind_of_task
from explorer.tuning.kinds import kind_of, learning_rate, usual_rate
from explorer.tuning.methods import METHODS, Method, find_method
from explorer.tuning.spec import RunSpec
from explorer.ui.components import LATEX, rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import QUIET
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker

NAMES = (
    *("task", "method", "rank", "alpha", "targets", "learning_rate", "epochs", "batch_size", "examples", "seed"),
    *("variant", "dropout", "prefix_length", "bottleneck", "last_layers", "keep_best", "after"),
)
"""In the order of the endpoint's parameters."""

_OFFER = Markup('<button type="button" class="offer" data-model="{0}">{0}</button>')
_TAKE_MODEL = "() => { document.querySelector('#model-of-run .offer')?.click(); return []; }"
"""A model is taken as one that a notice offers is; there is none where the run's stands at the top already."""

PRETRAINED = "the pretrained weights"
AFTER = "Or from an earlier run of this model, merged: the papers' RTE, MRPC and STS-B started from MNLI."


def explanation(method: Method) -> str:
    """Return what a method does, its formula, and where it comes from."""
    return f"{method.summary}\n\n$${method.formula}$$\n\n*{method.source}*"


def _usual(method: str, task: str) -> float:
    return usual_rate(method, kind_of(method, kind_of_task(task, settings())))


def run_settings(record: RunRecord) -> dict[str, Any]:
    """Return what the controls are to hold for a run like this one, by NAMES."""
    spec = record.spec
    rate = learning_rate(spec, kind_of(spec.method, record.kind))
    return {name: getattr(spec, name) for name in NAMES} | {"targets": list(spec.targets), "learning_rate": rate}


def _info(rate: float) -> str:
    return f"This method's own is {rate:g}."


class Controls:
    """Everything that a run can be asked for; `inputs` has the components by RunSpec's field names."""

    def __init__(self, page: Page, picker: RunPicker) -> None:
        self.page = page
        task = control(RunSpec, "task", choices=choices(settings()), elem_id="task-picker")
        self.real = RealTask(task)
        build_card(page, task)
        known = {"choices": [(method.title, method.slug) for method in METHODS], "allow_custom_value": False}
        self.method = control(RunSpec, "method", **known, filterable=False, elem_id="method-picker")
        with gr.Group() as self.lora:
            made = {"rank": control(RunSpec, "rank", elem_id="rank"), **controls(RunSpec, "targets")}
        with gr.Group(visible=False) as self.prefix:
            made |= controls(RunSpec, "prefix_length")
        with gr.Group(visible=False) as self.adapter:
            made |= controls(RunSpec, "bottleneck")
        self.upload = Upload(page, task)
        with gr.Accordion("Training settings", open=False):
            rate = find_method("lora").learning_rate
            self.learning_rate = control(RunSpec, "learning_rate", value=rate, info=_info(rate))
            made |= controls(RunSpec, "epochs", "batch_size", "examples", "seed", "alpha", "variant", "dropout")
            made |= controls(RunSpec, "last_layers", "keep_best")
            made["after"] = self.after = picker.dropdown("Starts from", PRETRAINED, info=AFTER, elem_id="after")
        made |= {"task": task, "method": self.method, "learning_rate": self.learning_rate}
        self.inputs = {name: made[name] for name in NAMES}
        self.taken = gr.JSON(visible=False)  # the settings of the run that was taken up last
        with gr.Accordion("How this method works", open=False):
            self.explained = gr.Markdown(explanation(find_method("lora")), latex_delimiters=LATEX)

    def wire(self) -> None:
        """Wire the controls: show what the chosen method reads, and hide what it does not; a choice also sets its
        learning rate.
        """
        shown = [self.lora, self.prefix, self.adapter, self.explained, self.learning_rate]
        asked = [self.method, self.inputs["task"]]
        with_taken = [*asked, self.taken]
        self.real.wire(self.upload.place)
        self.method.change(self._choose, asked, shown, **QUIET)
        for chosen in (self.method.input, self.inputs["task"].change):
            chosen(self._rate, with_taken, [self.learning_rate], **QUIET)

    def take_up(self, button: gr.Button, picker: RunPicker) -> None:
        """Put the chosen run's settings into the controls when a button is pressed, and its model to the top."""
        model = rich_text(visible="hidden", elem_id="model-of-run")

        def settings_of(run: str, chosen: str) -> list[Any]:
            if (record := picker.found(run or "")) is None:
                return [gr.skip()] * (len(self.inputs) + 2)
            taken = run_settings(record)
            offer = "" if record.spec.model == chosen else _OFFER.format(record.spec.model)
            return [*taken.values(), taken, str(offer)]

        outputs = [*self.inputs.values(), self.taken, model]
        pressed = button.click(settings_of, [picker.run, self.page.model], outputs, **QUIET)
        pressed.then(fn=None, js=_TAKE_MODEL, **QUIET)

    @staticmethod
    def _rate(slug: str, task: str, taken: dict[str, Any] | None) -> Any:
        """Return the method's own rate, or a run's if its settings were taken up: the event of its task comes after
        them.
        """
        usual = _usual(slug, task)
        is_of_run = taken is not None and (taken["method"], taken["task"]) == (slug, task)
        return gr.update(value=taken["learning_rate"] if taken and is_of_run else usual, info=_info(usual))

    def _choose(self, slug: str, task: str) -> list[Any]:
        method = find_method(slug)
        return [
            gr.update(visible="rank" in method.options),
            gr.update(visible=method.has_virtual_tokens),
            gr.update(visible="bottleneck" in method.options),
            explanation(method),
            gr.update(info=_info(_usual(slug, task))),
        ]
