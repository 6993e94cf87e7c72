"""What the chosen student's teacher is worth over several seeds, above the curves of one."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.distillation import STUDENT_SEEDS, seed_figures
from explorer.labs.distillation.train_schema import Seeded
from explorer.runs.examples import EVERY, FEW, KNOWN_LABELS
from explorer.ui.components import rich_text
from explorer.ui.kit import Tries, caption, view_of
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import folds

EXAMPLES = {f"{KNOWN_LABELS} known labels": FEW[0], "All labels known": EVERY[0]}
ABOUT = "Where all labels are known, the student without a teacher learns from what its teacher learnt from."


def build_seeds(page: Page, picker: RunPicker, student: gr.Dropdown) -> tuple[Stream, Tries]:
    """Lay it out; returns what follows the run that `student` names, and the examples with the run that each shows.

    It must not be triggered before its tab has been opened: a figure that is filled earlier is never drawn.
    """
    said, figure = view_of("student-seeds", "seeds")
    examples = Tries(EXAMPLES)
    caption(ABOUT)
    listed = rich_text(elem_classes=["wide"], elem_id="seeds-list")
    panel = folds(STUDENT_SEEDS, "seeds")
    stream = Stream(
        page, STUDENT_SEEDS, {"run": student}, picker.visitor, [said, figure, listed], _show, panel, Watch()
    )
    return stream, examples


def _show(result: Seeded) -> list[Any]:
    return [
        str(seed_figures.seeds_sentence(result)),
        seed_figures.seeds_figure(result),
        str(seed_figures.seeds_list(result)),
    ]
