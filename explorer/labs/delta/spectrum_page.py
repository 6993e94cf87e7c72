"""Spectrum: the singular values of ΔW, step by step, and how much each layer has changed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import DELTA_SPECTRUM, FOLLOW_DELTA
from explorer.labs.delta import spectrum_figures as figures
from explorer.labs.delta.controls import ALL_LAYERS, Settled, layer_choices, layer_number, module_update
from explorer.labs.delta.schema import SpectrumResult
from explorer.ui.kit import QUIET, View, inputs_column, outputs_column, two_columns, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import Connection, folds

WHY = r"""
LoRA's update is $\Delta W = \frac{\alpha}{r} B A$, so its rank is at most $r$: $B$ ($d \times r$, zeros at the start) before
$A$ ($r \times k$, Gaussian at the start in the paper's section 4.1), and not $A B$, as some notes have it. Its **singular
values** $\sigma_1 \ge \sigma_2 \ge \dots$ say how much of it lies in each direction; their squares add up to $\lVert \Delta W
\rVert_F^2$. They are computed from the $r \times r$ core: with $B = Q_B R_B$ and $A^\top = Q_A R_A$ the singular values of $B
A$ are those of $R_B R_A^\top$, some 600 times quicker than decomposing the whole matrix, quick enough to be redrawn while the
run trains. The reason to hope for a low rank: pretrained models have a low intrinsic dimension, so a change of low rank may do
for a task (Hu et al. 2021, section 4.1, after Aghajanyan et al. 2020). The **effective rank** is
$\exp(-\sum_i p_i \ln p_i)$ with $p_i = \sigma_i / \sum_j \sigma_j$ (Roy and Vetterli 2007). A random matrix of the same size and
norm shows what no structure would look like. (Hu et al. 2021, section 7)
"""


def build_spectrum(page: Page, picker: RunPicker, tab: gr.Tab, settled: Settled) -> None:
    """Fill and wire the tab: ΔW, redrawn while the run trains."""
    with two_columns():
        with inputs_column():
            module = gr.Dropdown(["query", "value"], value="query", label="Matrix", allow_custom_value=True)
            layer = gr.Dropdown(
                layer_choices(12), value=ALL_LAYERS, label="Layer", filterable=False, elem_id="spectrum-layer"
            )
            step = gr.Slider(1, 100, 100, step=1, label="Training step", info="Snaps to the nearest saved step.")
            wanted = gr.Number(0, precision=0, visible="hidden", label="step")  # 0: the newest
            measure = gr.Radio(
                [(title, name) for name, (title, _) in figures.MEASURES.items()],
                value="norm",
                label="Colour of the grid",
            )
        with outputs_column():
            spectrum = View(
                "delta-spectrum",
                "spectrum",
                figures.spectrum_sentence,
                figures.spectrum_figure,
                notes=figures.spectrum_notes,
            )
    with two_columns():
        with outputs_column(1):
            energy = View(
                "delta-energy",
                (None, "energy-figure"),
                figures.energy_sentence,
                figures.energy_figure,
                notes=figures.energy_notes,
            )
        with outputs_column(1):
            grid = View(
                *("delta-layers", (None, "measure-figure"), figures.measure_sentence, figures.measure_figure),
                notes=figures.measure_notes,
            )
    why("the formula and the paper", WHY)
    shown = [*spectrum, *energy, *grid]
    folded = folds(DELTA_SPECTRUM)
    chosen: dict[str, Any] = {"views": {"module": module, "layer": layer, "measure": measure}, "look": look}
    watch = Watch()
    newest: dict[str, Any] = {
        "steered": [
            (module, lambda result, module: module_update(result, module)),
            (step, _steps),
            (wanted, lambda result: 0),
        ],
        "visitor": picker.visitor,
        "watch": watch,
    }
    stream = Stream(page, FOLLOW_DELTA, {"run": picker.run}, shown, folded, **newest, **chosen)
    at_step = Connection(page, DELTA_SPECTRUM, {"run": picker.run, "step": wanted}, shown, folded, **chosen)
    at_step.on(module.input, layer.input, measure.input)
    step.input(watch.end, None, None, **QUIET)  # a newer step would take the place of the chosen one
    moved = step.input(
        fn=None, js="(step) => step", inputs=[step], outputs=[wanted], api_visibility="private", show_progress="hidden"
    )
    at_step.on(moved.then)
    stream.on(_another_run(tab, settled))


def _another_run(tab: gr.Tab, settled: Settled) -> Any:
    """Return the trigger for a run that this tab has not drawn yet; one that it has drawn stays as the visitor left it."""
    asked = gr.Textbox("", label="run that is drawn", visible="hidden")
    for trigger in settled.in_view(tab, "#spectrum-layer"):
        trigger(fn=None, js="(run) => run", inputs=[settled.run], outputs=[asked], **QUIET)
    return asked.change


def _steps(result: SpectrumResult) -> Any:
    """Return the slider's end for a run that keeps its steps; a run that does not has only its last."""
    last = result.step or 1
    return gr.update(maximum=max(2, last), value=last, interactive=result.step is not None)  # a slider's ends differ


def look(result: SpectrumResult, module: str = "", layer: str = ALL_LAYERS) -> dict[str, Any]:
    """Return what to draw; a module that this run did not adapt gives way to its first."""
    return {"module": module if module in result.modules else result.modules[0], "layer": layer_number(layer)}
