"""Compare all: every method on one task with the same data and seed, live, and what each costs."""

from __future__ import annotations

import gradio as gr

from explorer.charts import Picture
from explorer.labs.finetune import COMPARE, compare_figures
from explorer.labs.finetune.compare_said_figures import compared_sentence
from explorer.labs.finetune.live import beside_counting
from explorer.labs.finetune.schema import CompareParams
from explorer.published import lora_tables
from explorer.runs.comparing import Compared
from explorer.runs.examples import BY_METHOD
from explorer.runs.report import curves_figure
from explorer.runs.seeds import by_setting
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tuning.methods import METHODS
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import View, caption, in_the_paper, inputs_column, outputs_column, start_stop, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.several import follow_several
from explorer.ui.used_model import line_of_runs

NOT_COMPARABLE = (
    "<p class='caption'>Not comparable with the runs above: the authors trained RoBERTa and DeBERTa on all of GLUE's examples "
    "(2,490 of RTE to 393,000 of MNLI) with a search over settings; the runs above are of the model chosen here, on few "
    "examples, and the bundled tasks have sentences of their own. To measure on GLUE's, take its file on the Train tab. "
    "Which of the counts come out when they are computed again: <a href='agrees'>What agrees</a></p>"
)


def build_compare(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Lay out the task, the methods and the seeds; cost against score, curves, and costs as a table."""
    with two_columns():
        with inputs_column():
            used = rich_text(elem_id="compare-used")
            buttons = start_stop("Compare all", "compare", stop="Stop them all", stop_id=None)
            named = [(method.title, method.slug) for method in METHODS]
            inputs = {
                "task": control(CompareParams, "task", choices=choices(settings())),
                "methods": control(CompareParams, "methods", choices=named, value=[slug for _, slug in named]),
                **controls(CompareParams, "epochs", "seeds"),
            }
            with gr.Accordion("More settings", open=False):
                inputs |= controls(CompareParams, "batch_size", "examples", "seed")
        with outputs_column():
            ids = ("compare-said", "compare-trade")
            view = View("methods", ids, compared_sentence, compare_figures.trade_figure)
            curves = plot("method-curves", elem_id="compare-curves")
            caption(
                "Every method with the same examples, seeds and number of epochs, each with its own usual "
                "learning rate. The runs train one after the other and stay in the list of runs. The dashed line is what a "
                "linear model reaches that counts words (TF-IDF) in the same examples."
            )
    costs = rich_text(elem_classes=["wide"], elem_id="compare-costs")
    in_the_paper(
        "LoRA's Tables 1, 2 and 4",
        NOT_COMPARABLE,
        lora_tables.glue(),
        lora_tables.on_gpt3(),
        lora_tables.latency(),
        lora_tables.names(),
    )
    shown = [*view, (curves, _curves), (costs, compare_figures.cost_table), (used, line_of_runs)]
    bundled = BY_METHOD.values()
    follow_several(
        picker, tab, COMPARE, inputs, buttons, shown, bundled, lambda runs: beside_counting(page.engine, runs)
    )


def _curves(result: Compared) -> Picture | str:
    """Draw every method's first seed: the curves of all seeds would hide each other."""
    seen = [runs.first for runs in by_setting(result.records) if runs.first.losses]
    return curves_figure(seen, compared_sentence(result).striptags()) if seen else ""
