"""Ablation: what each term of the loss, and the start from the teacher's layers, are worth."""

from __future__ import annotations

import gradio as gr

from explorer.labs.distillation import ABLATE
from explorer.labs.distillation import ablation_figures as figures
from explorer.labs.distillation.learns import Learning
from explorer.labs.distillation.params import AblationParams
from explorer.labs.distillation.train import Ablated
from explorer.runs.comparing import Compared
from explorer.runs.examples import BY_ABLATION, FIRST, KNOWN_LABELS
from explorer.runs.report import progress
from explorer.ui.components import rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import View, caption, inputs_column, more, outputs_column, start_stop, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.several import follow_several

OTHER_STUDENTS = (
    "The worked examples begin from the teacher's own layers, as DistilBERT did: the cosine needs states of its width. "
    f"Those with {KNOWN_LABELS} labels under “Train a student” are bert-mini, which has nothing of the teacher, and reach less."
)


def build_ablation(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Lay out the settings that five students share; sentence, figure and list of what each is worth."""
    with two_columns():
        with inputs_column():
            buttons = start_stop("Drop each term in turn", "ablate", stop="Stop them all", stop_id=None)
            learns = Learning(page, "ablation")
            layers = controls(AblationParams, "student_layers")
            labelled = learns.labels(KNOWN_LABELS, info="0 knows all; see Train a student.")
            seeds = controls(AblationParams, "seeds")
            with more("temperature, weights, epochs and examples"):
                inputs = {
                    "task": learns.task,
                    "text": learns.text,
                    **layers,
                    **controls(AblationParams, "temperature", "soft", "hard", "cosine"),
                    "labelled": labelled,
                    **controls(AblationParams, "epochs"),
                    **seeds,
                    **controls(AblationParams, "seed"),
                    "examples": learns.number(),
                }
        with outputs_column():
            sentence, figure = figures.ablation_sentence, figures.ablation_figure
            view = View(
                "distillation-ablation", "ablation", sentence, figure, bar=lambda result: progress(result.records)
            )
            caption(
                "Five students of one teacher, with the same seeds: all three terms, without each, and from random "
                "numbers. They train one after the other and stay in the list of runs."
            )
            caption(OTHER_STUDENTS)
            listed = rich_text(elem_classes=["wide"], elem_id="ablation-list")
    inputs = {"teacher": picker.run, "model": page.model, **inputs}

    def bundled(compared: Compared) -> Ablated | None:
        whole = len(compared.records) == len(BY_ABLATION)  # a missing one would shift the others' lines
        return Ablated(page.engine.runs.get(FIRST), compared.records) if whole else None

    shown = [*view, (listed, figures.ablation_list)]
    follow_several(picker, tab, ABLATE, inputs, buttons, shown, BY_ABLATION.values(), bundled)
