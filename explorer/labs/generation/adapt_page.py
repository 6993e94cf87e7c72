"""Adapt GPT-2: settings at the left, how the runs learn at the right, the five metrics below."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.generation import adapt as figures
from explorer.labs.generation.adapt import ADAPT, AdaptParams
from explorer.labs.generation.continued_page import writer_box
from explorer.runs.examples import BY_WRITER
from explorer.runs.report import progress
from explorer.settings import settings
from explorer.tasks.sources import written_choices
from explorer.ui.components import rich_text
from explorer.ui.controls import control, controls
from explorer.ui.kit import View, caption, inputs_column, outputs_column, start_stop, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.several import follow_several

WHY = r"""
GPT-2 continues any text, so what it has to learn is that after `… ||` the meaning follows as a sentence. **Full fine-tuning**
moves every weight; **LoRA** adds $\frac{\alpha}{r} B A$ to the matrices of each layer (in the paper to the fused projection of
queries, keys and values, $r = 4$; here to the feed-forward block's as well, since a model this small has little to steer);
**prefix-layer** puts trained keys and values before every text. In the paper LoRA's 0.35M numbers reach more than full
fine-tuning's 354.92M on GPT-2 medium (Table 3); whether that holds for a model of 7M on a few hundred meanings is what the runs
here show.

Each run is measured on meanings that none of them has seen: greedy texts against all references, by the challenge's five
metrics; the dashed line is the held-out loss.
"""


def build_adapt(page: Page, tab: gr.Tab, picker: RunPicker) -> None:
    """Fill and wire the tab; worked examples are drawn when it is opened, and what is trained here is in the list of
    runs.
    """
    with two_columns():
        with inputs_column():
            buttons = start_stop("Train", "adapt", stop="Stop them all", stop_id=None)
            writer, line, _ = writer_box(page)
            inputs: dict[str, Any] = {
                "model": writer,
                "task": control(AdaptParams, "task", choices=written_choices(settings())),
                **controls(AdaptParams, "methods", "epochs", "seeds"),
            }
            with gr.Accordion("More settings", open=False):
                names = ("rank", "alpha", "targets", "batch_size", "examples", "learning_rate", "seed")
                inputs |= controls(AdaptParams, *names)
            line.render()  # type: ignore[no-untyped-call]
        with outputs_column():
            view = View(
                "writers",
                "adapt",
                figures.adapt_sentence,
                figures.adapt_figure,
                bar=lambda result: progress(result.records),
            )
            caption(
                "One run a method and seed, with the same meanings. They train one after the other, stay in the list of runs "
                "above, and are merged and taken home on the Fine-tune page. A file of E2E's own can be uploaded there."
            )
    measured = rich_text(elem_classes=["wide"], elem_id="adapt-metrics")
    rich_text(str(figures.paper_view()), elem_classes=["wide"])
    caption("Not comparable with the runs above: other models, E2E's own training texts, and people's references.")
    why("LoRA, prefix and full fine-tuning on meanings", WHY)
    follow_several(picker, tab, ADAPT, inputs, buttons, [*view, (measured, figures.metrics_view)], BY_WRITER)
