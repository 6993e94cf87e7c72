"""Train: settings at the left, the run that trains or has trained at the right."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.charts import Picture
from explorer.labs.finetune import FOLLOW, PLAN, TRAIN, figures
from explorer.labs.finetune.outcome import figures as outcome_figures
from explorer.labs.finetune.train.controls import Controls
from explorer.labs.finetune.train.figures import lora_view
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.report import curves_figure, progress
from explorer.tuning.methods import find_method
from explorer.ui.components import apart, plot, rich_text
from explorer.ui.folds import Panel, code
from explorer.ui.kit import Tries, View, caption, inputs_column, outputs_column, start_stop, two_columns
from explorer.ui.outputs import Draw
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import Connection, folds

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
            scales = [("linear", "linear"), ("logarithmic", "log")]
            scale = gr.Radio(scales, value="linear", label="Axis of the loss", elem_id="loss-scale")
        with outputs_column():
            view = View(
                "training",
                ("run-said", "run-curves"),
                figures.run_sentence,
                _curves,
                bar=lambda record: progress([record]),
                notes=figures.run_notes,
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
