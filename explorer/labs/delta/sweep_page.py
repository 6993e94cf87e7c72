"""Rank sweep: the same task and seed at several ranks."""

from __future__ import annotations

import gradio as gr
from markupsafe import Markup

from explorer.charts import Picture
from explorer.labs.delta import SWEEP
from explorer.labs.delta import sweep_figures as figures
from explorer.labs.delta.live import sweep_result
from explorer.labs.delta.params import SweepParams
from explorer.published import lora_tables
from explorer.runs.comparing import Compared
from explorer.runs.examples import BY_RANK
from explorer.runs.report import progress
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.ui.controls import control, controls
from explorer.ui.kit import View, caption, in_the_paper, inputs_column, outputs_column, start_stop, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.several import follow_several


def build_sweep(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab: the task and the ranks; the scores by rank, beside the paper's."""
    with two_columns():
        with inputs_column():
            buttons = start_stop("Sweep the ranks", "sweep", stop="Stop them all", stop_id=None)
            inputs = {
                "task": control(SweepParams, "task", choices=choices(settings())),
                **controls(SweepParams, "ranks", "targets", "epochs", "seed"),
            }
            caption(
                "One LoRA run a rank, everything else alike; alpha is twice the rank, so that the update's "
                "scale stays the same. The runs train one after the other and stay in the list."
            )
        with outputs_column():
            view = View(
                *("rank-sweep", "sweep", _said, _figure),
                bar=lambda compared: progress(compared.records),
                notes=_noted,
            )
    in_the_paper(
        "LoRA's Tables 5, 6 and 7",
        lora_tables.ranks(),
        lora_tables.matrices(),
        lora_tables.amplified(),
        lora_tables.similarity(),
    )
    follow_several(picker, tab, SWEEP, inputs, buttons, view, BY_RANK.values())


def _said(compared: Compared) -> Markup:
    return figures.sweep_sentence(sweep_result(compared))


def _noted(compared: Compared) -> Markup:
    return figures.sweep_notes(sweep_result(compared))


def _figure(compared: Compared) -> Picture:
    return figures.sweep_figure(sweep_result(compared))
