"""What the chosen student's teacher is worth over several seeds, above the curves of one."""

from __future__ import annotations

import gradio as gr

from explorer.labs.distillation import STUDENT_SEEDS
from explorer.labs.distillation import seeds_figures as figures
from explorer.runs.examples import EVERY, FEW, KNOWN_LABELS
from explorer.ui.components import rich_text
from explorer.ui.kit import Tries, View, caption
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.wiring import folds

EXAMPLES = {f"{KNOWN_LABELS} known labels": FEW[0], "All labels known": EVERY[0]}
ABOUT = "Where all labels are known, the student without a teacher learns from what its teacher learned from."


def build_seeds(page: Page, picker: RunPicker, student: gr.Dropdown) -> tuple[Stream, Tries]:
    """Lay it out. Return what follows the run that `student` names, and the examples with the run that each shows.

    It must not be triggered before its tab has been opened: a figure that is filled earlier is never drawn.
    """
    view = View("student-seeds", "seeds", figures.seeds_sentence, figures.seeds_figure)
    examples = Tries(EXAMPLES)
    caption(ABOUT)
    listed = rich_text(elem_classes=["wide"], elem_id="seeds-list")
    panel = folds(STUDENT_SEEDS, "seeds")
    shown = [*view, (listed, figures.seeds_list)]
    return Stream(page, STUDENT_SEEDS, {"run": student}, shown, panel, visitor=picker.visitor), examples
