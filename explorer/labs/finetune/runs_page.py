"""Runs: everything that the visitor has trained, side by side; everybody's for the lecturer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradio as gr

from explorer.errors import readable
from explorer.labs.finetune import RUNS, compare_figures
from explorer.labs.finetune import runs_figures as figures
from explorer.runs.comparing import Compared
from explorer.runs.record import RunRecord
from explorer.ui.components import plot, rich_text
from explorer.ui.kit import QUIET, inputs_column, outputs_column, sentence_place, two_columns
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker, run_choices
from explorer.ui.streams import Stream
from explorer.ui.wiring import folds

MOST_LINES = 9


def build_runs(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab: the list of runs; those that are chosen in one plot."""
    with two_columns():
        with inputs_column():
            shown = picker.dropdown("Runs to draw in one plot", multiselect=True, elem_id="runs-shown")
            page.also.append(("shown", shown))
            refresh = gr.Button("Refresh the list", size="sm")
            delete = gr.Button("Delete the run chosen above", size="sm", variant="stop", elem_id="delete-run")
        with outputs_column():
            said = sentence_place("runs-said")
            curves = plot("runs", elem_id="runs-curves")
    listed = rich_text(elem_classes=["wide"], elem_id="runs-list")
    deleted = picker.on_press(delete, "delete")

    def steer(result: Compared) -> list[Any]:
        drawn = figures.of_one_task(result.records)
        chosen = gr.update(choices=run_choices(result.records), value=[record.run_id for record in drawn])
        return [chosen, *_drawn(drawn)]

    drawn = [(listed, compare_figures.runs_list)]
    steered = [([shown, said, curves], steer)]
    stream = Stream(page, RUNS, {}, drawn, folds("runs"), visitor=picker.visitor, steered=steered)
    stream.on(tab.select, refresh.click, deleted)

    def draw(run_ids: list[str] | None) -> list[Any]:
        try:
            # More lines cannot be told apart.
            records = [page.engine.runs.get(run_id) for run_id in (run_ids or [])[:MOST_LINES]]
        except Exception as error:
            return [page.explain(readable(error)), gr.skip(), gr.skip()]
        return ["", *_drawn(records)]

    shown.change(draw, [shown], [page.notice, said, curves], **QUIET)


def _drawn(records: Sequence[RunRecord]) -> list[Any]:
    return [figures.runs_sentence(records), figures.runs_figure(records)]
