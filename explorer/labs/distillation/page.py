"""The distillation page: what a teacher says, how a student is compared with it, and students to train."""

from __future__ import annotations

import gradio as gr

from explorer.labs.distillation.ablation_page import build_ablation
from explorer.labs.distillation.losses_page import build_losses
from explorer.labs.distillation.soft_page import build_soft_targets
from explorer.labs.distillation.train_page import build_train
from explorer.runs.record import RunRecord
from explorer.tasks.task import CLASSES, MASKED
from explorer.tuning.kinds import kind_of
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker


def can_teach(record: RunRecord) -> bool:
    """Return whether a run has classes, a score or a vocabulary to teach: one that marks answers or writes texts has
    none.
    """
    learned = kind_of(record.spec.method, record.kind).slug
    return record.status.has_weights and not record.from_nothing and learned in (CLASSES, MASKED)


def build(page: Page) -> None:
    """Lay out one choice of a run above, which is the teacher on every tab."""
    picker = RunPicker(page, can_teach, needs="runs that can teach", opens=lambda record: bool(record.labels))
    with gr.Tabs():
        with gr.Tab("Soft targets", id="soft"):
            build_soft_targets(page, picker)
        with gr.Tab("Losses", id="losses") as losses:
            students = build_losses(page, picker, losses)
        with gr.Tab("Train a student", id="train") as training:
            attach = build_train(page, picker, training)
        with gr.Tab("Ablation", id="ablation") as ablation:
            build_ablation(page, picker, ablation)
    attach(picker.wire(students))  # last: `wire` knows when the visitor is known
