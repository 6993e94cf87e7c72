"""The Train tab: its controls, and a run from its plan to its outcome."""

from __future__ import annotations

from typing import Any

import gradio as gr
from markupsafe import Markup

from explorer.charts import Picture
from explorer.labs.finetune import FOLLOW, PLAN, TRAIN, figures, outcome_figures
from explorer.labs.finetune.card_page import build_card
from explorer.labs.finetune.train_figures import lora_view
from explorer.labs.finetune.uploads import RealTask, Upload
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import curves_figure, progress
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tasks.sources import kind_of as kind_of_task
from explorer.tuning.kinds import kind_of, learning_rate, usual_rate
from explorer.tuning.methods import METHODS, Method, find_method
from explorer.tuning.spec import RunSpec
from explorer.ui.components import LATEX, apart, plot, rich_text
from explorer.ui.controls import control, controls
from explorer.ui.folds import Panel, code
from explorer.ui.kit import QUIET, Tries, View, caption, inputs_column, outputs_column, start_stop, two_columns
from explorer.ui.outputs import Draw
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import Connection, folds

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
            made = {"rank": control(RunSpec, "rank", elem_id="rank")}
        with gr.Group(visible=False) as self.prefix:
            made |= controls(RunSpec, "prefix_length")
        with gr.Group(visible=False) as self.adapter:
            made |= controls(RunSpec, "bottleneck")
        self.upload = Upload(page, task)
        with gr.Accordion("Training settings", open=False):
            rate = find_method("lora").learning_rate
            self.learning_rate = control(RunSpec, "learning_rate", value=rate, info=_info(rate))
            made |= controls(
                RunSpec, "epochs", "batch_size", "examples", "seed", "targets", "alpha", "variant", "dropout"
            )
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


TRY: dict[str, dict[str, Any]] = {
    "Rank 1": {"method": "lora", "rank": 1, "learning_rate": find_method("lora").learning_rate},
    "Head only": {"method": "head", "learning_rate": find_method("head").learning_rate},
    "A learning rate of 100": {"method": "lora", "learning_rate": 100.0},
}


ABOUT_SCRIPT = (
    "The second script is `train.py`, for the settings at the left. It reads `data/train.tsv` and `data/validation.tsv` beside "
    "it; they come with a run: Merge and take home."
)
NO_SCRIPT = "# These settings begin with what their run computes: train.py comes with it (Merge and take home).\n"


def build_train(page: Page, picker: RunPicker) -> tuple[Stream, gr.Dropdown]:
    """Fill and wire the tab. Return the stream that follows the chosen run, and the list of runs to start from."""
    with two_columns():
        with inputs_column():
            caption("A new run, with the settings below:")  # a link's run is described beside them
            train, stop = start_stop("Train", "train", stop_id="stop")
            resume = gr.Button("Resume", visible=False, elem_id="resume")
            planned = rich_text(elem_classes=["caption", "plan"], elem_id="plan")
            controls = Controls(page, picker)
        with outputs_column():
            view = View(
                "training",
                ("run-said", "run-curves"),
                figures.run_sentence,
                _curves,
                bar=lambda record: progress([record]),
                notes=figures.run_notes,
            )
            scales = [("linear", "linear"), ("logarithmic", "log")]
            scale = gr.Radio(
                scales, value="linear", label="Axis of the loss", elem_id="loss-scale", elem_classes=["in-line"]
            )
            tries = Tries(TRY)
        with gr.Column(scale=1, min_width=330, elem_classes=["lora-side"]):
            drawn = rich_text(elem_id="lora-drawn")
    with two_columns():
        with outputs_column(1, 300):
            outcome = plot("confusion", elem_id="run-outcome")
            line = rich_text()
            use = gr.Button("Use these settings", size="sm", visible=False, elem_id="use-settings")
        with outputs_column(1):
            wrong = rich_text(elem_classes=["wide"], elem_id="run-wrong")
    shown = [
        *view,
        (outcome, _when_ended(outcome_figures.outcome_figure)),
        (line, figures.settings_line),
        (wrong, _when_ended(outcome_figures.mistakes)),
    ]
    folded = folds("train")

    def steer(record: RunRecord, owner: str) -> list[Any]:
        mine = owner in (record.owner, "*")
        over = record.status in (RunStatus.STOPPED, RunStatus.INTERRUPTED, RunStatus.FAILED)
        # While steps come in, lists stay as they are: a visitor may have one open.
        moving = record.status is RunStatus.RUNNING and record.step > 0
        known = [] if moving else picker.choices_beside(record, owner)
        first = gr.skip() if moving else gr.update(choices=picker.beside(controls.after, known))
        return [
            gr.skip() if moving else gr.update(choices=known, value=record.run_id),
            first,
            gr.update(visible=not (mine and record.status.is_active)),
            gr.update(visible=mine and record.status.is_active),
            gr.update(visible=mine and over and record.step < (record.steps or 1)),
            gr.update(visible=_can_be_asked_for(record)),
        ]

    steered = [([picker.run, controls.after, train, stop, resume, use], steer)]
    shared: dict[str, Any] = {
        "visitor": picker.visitor,
        "watch": Watch(),
        "views": {"scale": scale},
        "steered": steered,
    }
    training = Stream(page, TRAIN, controls.inputs, shown, folded, **shared)
    following = Stream(page, FOLLOW, {"run": picker.run}, shown, folded, **shared)
    training.on(train.click)
    for name in TRY:
        training.on(tries.put(name, controls.inputs, show_progress="full"))
    picker.on_press(stop, "stop")
    resumed = picker.on_press(resume, "resume")
    following.on(apart(picker.run.input), scale.input, resumed)
    _plan(page, controls, (planned, drawn), folded)
    controls.wire()
    controls.take_up(use, picker)
    return following, controls.after


def _curves(record: RunRecord, scale: str = "linear") -> Picture:
    return curves_figure([record], figures.run_sentence(record).striptags(), scale)


def _can_be_asked_for(record: RunRecord) -> bool:
    """Return whether the settings at the left can make a run like it: a file's training is unknown, and students have a
    teacher.
    """
    return record.status is not RunStatus.IMPORTED and not record.spec.teacher


def _when_ended(draw: Draw) -> Draw:
    return lambda record: "" if record.status.is_active else draw(record)


def _plan(page: Page, controls: Controls, places: tuple[gr.HTML, gr.HTML], folded: Panel) -> None:
    """Wire what the settings would train, in a sentence and drawn, and the script, anew whenever one of them changes."""
    assert folded.scripts is not None
    with folded.scripts:
        gr.Markdown(ABOUT_SCRIPT)
        script = code("Without it, from transformers and peft", "plain-train")
    with gr.Accordion("What would be trained, by module", open=False):
        panel = folds("plan_run")

    planned, drawn = places
    shown = [(planned, figures.plan_sentence), (script, lambda result: result.script or NO_SCRIPT), (drawn, lora_view)]
    plan = Connection(page, PLAN, controls.inputs, shown, panel)
    moved = [component.change for component in controls.inputs.values()]
    plan.on(*moved, *page.ready)
