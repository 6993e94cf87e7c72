"""Sweep: what is swept at the left, the metric against it at the right."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.finetune import sweep_figures as figures
from explorer.labs.finetune.sweep import SETTINGS, SWEEP, Sweep, SweepParams
from explorer.published import lora_tables
from explorer.runs.examples import EARLIER, RANK_SEEDS, RANKS, of_rank
from explorer.runs.report import progress
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.tuning.methods import METHODS
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import (
    QUIET,
    Tries,
    View,
    caption,
    in_the_paper,
    inputs_column,
    outputs_column,
    start_stop,
    two_columns,
    why,
)
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.several import follow_several
from explorer.ui.used_model import line_of_runs

TRY: dict[str, dict[str, Any]] = {
    "LoRA's rate beside full fine-tuning's": {
        "methods": ["lora", "full"],
        "setting": "learning_rate",
        "values": "1e-5, 1e-4, 1e-3, 1e-2",
    },
    "Which matrices": {"methods": ["lora"], "setting": "matrices", "values": SETTINGS["matrices"].values},
    "The last layers alone": {"methods": ["full", "lora"], "setting": "last_layers", "values": "1, 2, 4"},
    "From random numbers": {"methods": ["full"], "setting": "start", "values": "pretrained, random"},
    "RTE after MNLI": {
        "task": "rte",
        "methods": ["lora"],
        "setting": "start",
        "values": f"pretrained, {EARLIER}",
        "epochs": 5,
    },
    "All methods, three seeds": {"methods": ["lora"], "setting": "method", "values": SETTINGS["method"].values},
}

WHY = r"""
One run says what one seed came to: the order of the examples and the new head's first numbers move a score by as much as many
settings do, most of all where examples are few (Dodge et al. 2020). So every value is trained with several seeds, the same ones
for each; what is compared are the differences seed by seed, with Student's $t$ interval of their mean.

**Learning rate.** LoRA wants a higher one than full fine-tuning, about ten times (Schulman et al. 2025, "LoRA Without Regret"):
a method is only compared fairly at its own best rate. **Matrices at one budget.** $r = 8$ on one matrix, 4 on two, 2 on four, so
that as many numbers are trained (up to the feed-forward block's larger sides); the paper says that $W_q$ and $W_v$ together do
best, while its table has all four matrices as high or higher (Hu et al. 2021, section 7.1, Table 5).

**Rank and alpha.** The update is scaled by $\alpha / r$: the rank is swept at the same
scale, alpha at the same rank. **Last layers.** The lower ones stay as pretraining left them, with the embeddings. **Start.**
From random numbers: the same model without its pretraining, so what is left is what the examples alone can teach. After an
earlier run, named by its id: its update is merged into the weights and a new head put on top, as RTE, MRPC and STS-B started
from MNLI (Liu et al. 2019, section 5.1; Hu et al. 2021, section 5.2).
"""


def build_sweep(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab; the worked examples' ranks are drawn when it is opened."""
    with two_columns():
        with inputs_column():
            used = rich_text(elem_id="sweep-used")
            buttons = start_stop("Sweep", "sweep", stop="Stop them all", stop_id=None)
            named = [(method.title, method.slug) for method in METHODS]
            inputs: dict[str, Any] = {
                "task": control(SweepParams, "task", choices=choices(settings())),
                "methods": gr.Dropdown(
                    named, value=["lora"], label="Methods", multiselect=True, elem_id="sweep-methods"
                ),
                **controls(SweepParams, "setting", "values", "seeds"),
            }
            with gr.Accordion("More settings", open=False):
                inputs |= controls(SweepParams, "rank", "epochs", "batch_size", "examples")
        with outputs_column():
            view = View(
                "sweep",
                "sweep",
                figures.sweep_sentence,
                figures.sweep_figure,
                bar=lambda sweep: progress(sweep.records),
            )
            tries = Tries(TRY, "Put")
            caption(
                "At most 24 runs; they train one after the other, seed by seed, and stay in the list. Everything that is not "
                "swept is the same for all, each method with its own usual learning rate."
            )
    listed = rich_text(elem_classes=["wide"], elem_id="sweep-rows")
    why("several seeds, and what to sweep", WHY)
    in_the_paper("LoRA's Tables 5 and 6", lora_tables.ranks(), lora_tables.matrices())
    inputs["setting"].input(lambda setting: SETTINGS[setting].values, [inputs["setting"]], [inputs["values"]], **QUIET)
    for name in TRY:
        tries.put(name, inputs)
    bundled = [of_rank(rank, seed) for seed in RANK_SEEDS for rank in RANKS]
    shown = [*view, (listed, figures.sweep_rows), (used, line_of_runs)]
    follow_several(picker, tab, SWEEP, inputs, buttons, shown, bundled, lambda runs: Sweep("rank", runs))
