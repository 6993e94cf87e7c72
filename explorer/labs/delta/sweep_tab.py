"""Rank sweep: the same task and seed at several ranks."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import SWEEP, sweep_figures
from explorer.labs.delta.live import sweep_result
from explorer.labs.delta.params import SweepParams
from explorer.runs.examples import BY_RANK
from explorer.runs.following import Compared
from explorer.runs.report import progress
from explorer.settings import settings
from explorer.tasks.sources import choices
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import asks, bench, caption, live_view_of, shows, start_stop
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import folds


def build_sweep(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Lay out and wire the tab."""
    with bench():
        with asks():
            start, stop = start_stop("Sweep the ranks", "sweep", stop="Stop them all", stop_id=None)
            inputs = {
                "task": control(SweepParams, "task", choices=choices(settings())),
                **controls(SweepParams, "ranks", "targets", "epochs", "seed"),
            }
            caption(
                "One LoRA run a rank, everything else alike; alpha is twice the rank, so that the update's "
                "scale stays the same. The runs train one after the other and stay in the list."
            )
        with shows():
            said, bar, figure = live_view_of("rank-sweep", "sweep")
            rich_text(str(sweep_figures.paper_quote()), elem_classes=["wide"])
    started = gr.Textbox("", visible="hidden", label="started")

    def steer(compared: Compared, owner: str) -> list[Any]:
        active = any(record.status.is_active for record in compared.records)
        runs = ",".join(record.run_id for record in compared.records)
        return [gr.update(visible=not active), gr.update(visible=active), runs]

    stream = Stream(
        page,
        SWEEP,
        inputs,
        picker.visitor,
        [said, bar, figure],
        _show,
        folds("sweep_ranks"),
        Watch(),
        [start, stop, started],
        steer,
    )
    stream.on(start.click)
    picker.on_press(stop, "stop", started)
    picker.draw_first(tab, started, list(BY_RANK.values()), _show, [said, bar, figure])


def _show(compared: Compared) -> list[Any]:
    result = sweep_result(compared)
    bar = str(progress(compared.records))
    return [str(sweep_figures.sweep_sentence(result)), bar, sweep_figures.sweep_figure(result)]
