"""Merge and take home: the update inside the weights, and everything as files."""

from __future__ import annotations

import gradio as gr

from explorer.labs.finetune import EXPORT, MERGE
from explorer.labs.finetune import use_figures as figures
from explorer.labs.finetune.schema import ExportParams
from explorer.labs.finetune.uploads import Import
from explorer.ui.components import apart, is_open, rich_text
from explorer.ui.controls import control
from explorer.ui.downloads import hand_over
from explorer.ui.kit import QUIET, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.wiring import Connection

WHY = r"""
After training, $W' = W + \frac{\alpha}{r} B A$ can be computed once: the adapted model is then as quick as the original,
$h = W' x$, where adapters and prefixes cost time at every call. The outputs agree up to rounding: the two ways add the same
numbers in another order. (Hu et al. 2021, section 4.1, "No additional inference latency")
"""


def build_merge(page: Page, picker: RunPicker, tab: gr.Tab) -> None:
    """Fill and wire the tab: the merge with its timings; the run as a file, and an adapter from one."""
    with two_columns():
        with inputs_column():
            merge = gr.Button("Merge and compare", variant="primary", elem_id="merge")
            gr.HTML("<h2>Take it home</h2>")
            kind = control(ExportParams, "kind")
            page.also.append(("kind", kind))
            prepare = gr.Button("Prepare the file", elem_id="export")
            file = gr.File(label="The file", interactive=False, visible=False, elem_id="export-file")
            offered = rich_text(elem_id="run-offers")
            Import(page, picker)
        with outputs_column():
            view = View("merge", "merge", figures.merge_sentence, figures.merge_figure, bar=True)
    why("no added latency", WHY)
    compare = Connection(page, MERGE, {"run": picker.run}, view)
    compare.opens(
        *picker.at_opening(tab),
        apart(picker.run.input, where=is_open(tab)),
        note=view.bar,
        start=str(merge.value),
        asked=[merge.click],
        last=gr.JSON(visible=False),
    )
    compare.on(merge.click)
    for moved in (tab.select, picker.run.change):
        moved(lambda run: figures.offer(picker.found(run or "")), [picker.run], [offered], **QUIET)

    hand_over(page, EXPORT, {"run": picker.run, "kind": kind}, prepare, file)
