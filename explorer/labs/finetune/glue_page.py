"""GLUE: the eight tasks, what the visitor's runs reach on each so far, and a row of the LoRA paper beside."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import glue as figures
from explorer.labs.finetune.glue import GLUE, GlueParams
from explorer.ui.components import rich_text
from explorer.ui.controls import controls
from explorer.ui.kit import inputs_column, outputs_column, sentence_place, slim, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream
from explorer.ui.wiring import folds

WHY = """
GLUE (Wang et al. 2019) is nine tasks on sentences and pairs of sentences, of very different sizes, and one number: the mean of
their scores, in which RTE's 2.5 thousand examples count as much as MNLI's 392 thousand. One pretrained model is fine-tuned anew
for each task, so the number says whether its pretraining helps in general: BERT, RoBERTa, ALBERT, ELECTRA, DistilBERT and LoRA
all print it. BERT leaves the ninth task out, WNLI, since its split misleads, and LoRA's table has no such column either.
SuperGLUE (Wang et al. 2019) collects harder tasks, since models had passed GLUE's score of people who are no experts.

Two averages are comparable only over the same tasks, by the same metrics and on the same files. So GLUE's own files and the
bundled sentences are never put into one average here, and the paper's is taken over the tasks that you have. The best of your
runs is chosen by the score that it is shown with, which flatters it.
"""


def build_glue(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab; the table is made whenever the tab is opened, of the runs that there are by then."""
    with slim():
        with inputs_column():
            inputs = controls(GlueParams, "beside")
        with outputs_column():
            said = sentence_place("glue-said")
    listed = rich_text(elem_classes=["wide"], elem_id="glue-tasks")
    why("nine tasks and one number", WHY)
    shown = [(said, figures.glue_sentence), (listed, figures.glue_view)]
    stream = Stream(page, GLUE, inputs, shown, folds(GLUE), visitor=picker.visitor)
    stream.on(tab.select, inputs["beside"].input)
