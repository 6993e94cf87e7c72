"""What a student is asked to be: the controls of the tab, and settings to try."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.distillation.learns import QUICK, Learning
from explorer.labs.distillation.train_schema import MOST_SEEDS
from explorer.models.catalog import CATALOG
from explorer.tasks.plain_text import TEXT
from explorer.tuning.methods import STUDENT
from explorer.tuning.spec import SOFT_LOSSES, STARTS
from explorer.ui.page import Page

START_TITLES = {"teacher": "the teacher's layers", "pretrained": "pretrained layers", "random": "random numbers"}
LOSS_TITLES = {"kl": "soft targets (T² KL)", "l2": "logits (L2)"}
_SOFT = {"alpha": 1.0, "cosine": 0.0, "start": "teacher", "student": "", "labelled": 0}
_ON_THE_TASK = {"task": "", "text": "", "examples": 0}
TRY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Half the layers", {**_SOFT, "student_layers": 0}),
    ("One layer", {**_SOFT, "student_layers": 1}),
    ("A random start", {**_SOFT, "student_layers": 0, "start": "random"}),
    (
        "Few labels",
        {
            **_SOFT,
            **_ON_THE_TASK,
            "alpha": 0.5,
            "student_layers": 3,
            "start": "pretrained",
            "student": "bert-mini",
            "labelled": 32,
        },
    ),
    (
        "A narrower model",  # on a text a student is made of its teacher's layers
        {**_SOFT, **_ON_THE_TASK, "student_layers": 6, "start": "pretrained", "student": "bert-mini"},
    ),
    (
        "Masked words",
        {**_SOFT, "task": TEXT.slug, "examples": QUICK, "student_layers": 0, "alpha": 0.7, "cosine": 0.15},
    ),
)


LISTED_LAYERS = 24
"""The depth of BERT-large."""


def layers_choice(label: str, **options: Any) -> gr.Dropdown:
    """How many layers a student has; 0 is every second one of its teacher's."""
    numbers = [(str(count), count) for count in range(1, LISTED_LAYERS + 1)]
    return gr.Dropdown([("every second layer", 0), *numbers], value=0, label=label, **options)


def student_controls(page: Page) -> dict[str, Any]:
    """By DistillParams' names."""
    learns = Learning(page, "student")
    layers = layers_choice("Student's layers", elem_id="student-layers")
    alpha = gr.Slider(
        0,
        1,
        1,
        step=0.05,
        label="α: share of the soft loss",
        info="The rest is the labels', on a text the hidden words'.",
    )
    labelled = learns.labels(
        0,
        info="0 knows all. So many examples keep their label; the rest are texts that only the teacher answers.",
        elem_id="student-labelled",
    )
    temperature = gr.Slider(0.5, 20, 2, step=0.5, label="Temperature T")
    with gr.Accordion("More settings", open=False):
        return {
            "task": learns.task,
            "text": learns.text,
            "student_layers": layers,
            "temperature": temperature,
            "alpha": alpha,
            "labelled": labelled,
            "loss": gr.Radio(
                [(LOSS_TITLES[name], name) for name in SOFT_LOSSES], value="kl", label="Compared with the teacher"
            ),
            "epochs": gr.Slider(1, 20, 3, step=1, label="Epochs"),
            "seed": gr.Number(0, precision=0, label="Seed"),
            "seeds": gr.Slider(
                1,
                MOST_SEEDS,
                1,
                step=1,
                label="Seeds",
                info="All of it once for each seed, from the one above on: one says little, five have an interval.",
            ),
            "start": gr.Radio([(START_TITLES[name], name) for name in STARTS], value="teacher", label="Starts from"),
            "cosine": gr.Number(
                0, label="Weight of the states' cosine", info="DistilBERT's proportion is a fifth of α."
            ),
            "student": gr.Dropdown(
                [("the teacher's model", ""), *[(card.model_id, card.model_id) for card in CATALOG if card.bundled]],
                value="",
                label="Student's model",
                info="Another model starts from its own pretrained layers.",
                allow_custom_value=True,
            ),
            "learning_rate": gr.Number(STUDENT.learning_rate, label="Learning rate"),
            "batch_size": gr.Slider(1, 64, 16, step=1, label="Batch size"),
            "examples": learns.number(),
            "with_labels_only": gr.Checkbox(
                True, label="Train the same student on the labels (or hidden words) alone, to compare"
            ),
        }
