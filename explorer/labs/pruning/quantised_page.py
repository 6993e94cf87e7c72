"""Fewer bits: the same model in fp32, bf16 and int8, whole and pruned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from explorer.labs.pruning import QUANTISE
from explorer.labs.pruning import quantised_figures as figures
from explorer.labs.pruning.controls import Live, Subject
from explorer.labs.pruning.params import QuantiseParams
from explorer.labs.pruning.schema import QuantiseResult
from explorer.ui.controls import controls
from explorer.ui.kit import Tries, View, inputs_column, outputs_column, start_stop, two_columns, why

WHY = r"""
**bf16** keeps 8 of the 24 bits of a number's precision and all of its range. **int8** stores each weight matrix of a linear map
as whole numbers from −128 to 127 with one scale, $w \approx s\,q$, and rounds the activations as they come
(`torch.ao.quantization.quantize_dynamic`); embeddings and LayerNorms stay in fp32, so the file is not a quarter. Pruning removes
weights, quantisation shortens them, distillation trains a smaller model: they can be combined.
Whether fewer bits are also quicker depends on what the processor can multiply.
"""
TRY: dict[str, dict[str, Any]] = {
    "and half of it pruned": {"share": 0.5},
    "one text": {"batch": 1},
    "64 texts": {"batch": 64},
}


def build_quantised(subject: Subject, tab: gr.Tab, opened: Callable[..., Any]) -> None:
    """Fill and wire the tab: the share that is pruned and the batch; size, speed and score of the three forms.

    opened: the trigger after which the page knows what is to be pruned.
    """
    with two_columns():
        with inputs_column(250):
            buttons = start_stop("Measure the three forms", "quantise")
            inputs = controls(QuantiseParams, "share", "batch")
            tries = Tries(TRY)
        with outputs_column():
            view = View(
                "quantised",
                "quantise",
                figures.quantised_sentence,
                figures.quantised_figure,
                bar=True,
                notes=figures.quantised_notes,
            )
    why("fewer bits", WHY)

    def share(result: QuantiseResult) -> float:
        return 1.0 if result.done else len(result.forms) / (result.total + 1)  # + 1: the forms are still to be timed

    stream = Live(subject, QUANTISE, inputs, view, share, buttons, view.bar)
    stream.on(stream.start.click, *tries.into(inputs))
    stream.opens(*subject.in_view(tab, opened))
