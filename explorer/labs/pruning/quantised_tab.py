"""Fewer bits: the same model in fp32, bf16 and int8, whole and pruned."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.pruning import QUANTISE, quantised_figures
from explorer.labs.pruning.bench import Live, Subject, bar, setting, start_stop, tries
from explorer.labs.pruning.params import QuantiseParams
from explorer.labs.pruning.schema import QuantiseResult
from explorer.ui.components import plot, rich_text
from explorer.ui.controls import controls
from explorer.ui.wiring import LATEX, folds

WHY = r"""
**bf16** keeps 8 of the 24 bits of a number's precision and all of its range. **int8** stores each weight matrix of a linear map
as whole numbers from −128 to 127 with one scale, $w \approx s\,q$, and rounds the activations as they come
(`torch.ao.quantization.quantize_dynamic`); embeddings and LayerNorms stay in fp32, so the file is not a quarter. Pruning removes
weights, quantisation shortens them, distillation trains a smaller model: they can be combined.
Whether fewer bits are also quicker depends on what the processor can multiply.
"""


def build_quantised(subject: Subject, tab: gr.Tab) -> None:
    """Lay out and wire the tab."""
    with gr.Row(elem_classes=["bench"]):
        with gr.Column(scale=1, min_width=250):
            start, stop = start_stop("Measure the three forms", "quantise")
            inputs = controls(QuantiseParams, "share", "batch")
            buttons = tries("and half of it pruned", "one text", "64 texts")
        with gr.Column(scale=2, min_width=320):
            said = rich_text(elem_classes=["said"], elem_id="quantise-said")
            shown = bar()
            figure = plot("quantised", elem_id="quantise-figure")
    with gr.Accordion("Why: fewer bits", open=False):
        gr.Markdown(WHY, latex_delimiters=LATEX)
    panel = folds(QUANTISE)

    def show(result: QuantiseResult) -> list[Any]:
        return [str(quantised_figures.quantised_sentence(result)), quantised_figures.quantised_figure(result)]

    stream = Live(
        subject, QUANTISE, inputs, [said, figure], show,
        lambda result: 1.0 if result.done else len(result.forms) / (result.total + 1), panel, start, stop, shown,
    )  # fmt: skip
    changes = (("share", 0.5), ("batch", 1), ("batch", 64))
    moves = [setting(button, [inputs[name]], to) for button, (name, to) in zip(buttons, changes, strict=True)]
    stream.on(start.click, *moves)
    stream.opens(tab.select)
