"""What a student is asked to be: the controls of the tab, and settings to try."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.distillation.params import DistillParams
from explorer.labs.distillation.train.learns import QUICK, Learning
from explorer.models.catalog import CATALOG
from explorer.tasks.formats.text import TEXT
from explorer.tuning.methods import STUDENT
from explorer.ui.controls import control, controls
from explorer.ui.page import Page

_SOFT = {"alpha": 1.0, "cosine": 0.0, "start": "teacher", "student": "", "labelled": 0}
_ON_THE_TASK = {"task": "", "text": "", "examples": 0}
TRY: dict[str, dict[str, Any]] = {
    "Half the layers": {**_SOFT, "student_layers": 0},
    "One layer": {**_SOFT, "student_layers": 1},
    "A random start": {**_SOFT, "student_layers": 0, "start": "random"},
    "Few labels": {
        **_SOFT,
        **_ON_THE_TASK,
        "alpha": 0.5,
        "student_layers": 3,
        "start": "pretrained",
        "student": "bert-mini",
        "labelled": 32,
    },
    # on a text a student is made of its teacher's layers
    "A narrower model": {**_SOFT, **_ON_THE_TASK, "student_layers": 6, "start": "pretrained", "student": "bert-mini"},
    "Masked words": {
        **_SOFT,
        "task": TEXT.slug,
        "examples": QUICK,
        "student_layers": 0,
        "alpha": 0.7,
        "cosine": 0.15,
    },
}


def student_controls(page: Page) -> dict[str, Any]:
    """Lay out the controls; return them by DistillParams' names."""
    learns = Learning(page, "student")
    layers = control(DistillParams, "student_layers", elem_id="student-layers")
    alpha = control(DistillParams, "alpha")
    labelled = learns.labels(
        0,
        info="0 knows all. So many examples keep their label; the rest are texts that only the teacher answers.",
        elem_id="student-labelled",
    )
    temperature = control(DistillParams, "temperature")
    models = [("the teacher's model", ""), *[(card.model_id, card.model_id) for card in CATALOG if card.bundled]]
    with gr.Accordion("More settings", open=False):
        return {
            "task": learns.task,
            "text": learns.text,
            "student_layers": layers,
            "temperature": temperature,
            "alpha": alpha,
            "labelled": labelled,
            **controls(DistillParams, "loss", "epochs", "seed", "seeds", "start", "cosine"),
            "student": control(DistillParams, "student", choices=models),
            "learning_rate": control(DistillParams, "learning_rate", value=STUDENT.learning_rate),
            **controls(DistillParams, "batch_size"),
            "examples": learns.number(),
            **controls(DistillParams, "with_labels_only"),
        }
