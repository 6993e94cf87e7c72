"""Spectrum: the singular values of ΔW, step by step, and how much each layer has changed."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.labs.delta import DELTA_SPECTRUM, FOLLOW_DELTA, figures
from explorer.labs.delta.places import ALL_LAYERS, layer_choices, layer_number, module_update, places_update
from explorer.labs.delta.schema import SpectrumResult
from explorer.ui.kit import QUIET, asks, bench, shows, view_of, why
from explorer.ui.page import Page
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import Connection, folds

WHY = r"""
LoRA's update is $\Delta W = \frac{\alpha}{r} B A$, so its rank is at most $r$. Its **singular values** $\sigma_1 \ge
\sigma_2 \ge \dots$ say how much of it lies in each direction; their squares add up to $\lVert \Delta W \rVert_F^2$. They
are computed from the $r \times r$ core: with $B = Q_B R_B$ and $A^\top = Q_A R_A$ the singular values of $B A$ are those of
$R_B R_A^\top$, some 600 times quicker than decomposing the whole matrix, quick enough to be redrawn while the run trains.
The **effective rank** is $\exp(-\sum_i p_i \ln p_i)$ with $p_i = \sigma_i / \sum_j \sigma_j$ (Roy and Vetterli 2007). A
random matrix of the same size and norm shows what no structure would look like. (Hu et al. 2021, section 7)
"""


def build_spectrum(page: Page, picker: RunPicker, places: list[gr.components.Component]) -> Stream:
    """Returns the stream that redraws ΔW while the run trains.

    places: other tabs' lists of matrices and layers, which follow the run.
    """
    with bench():
        with asks():
            module = gr.Dropdown(["query", "value"], value="query", label="Matrix", allow_custom_value=True)
            layer = gr.Dropdown(layer_choices(12), value=ALL_LAYERS, label="Layer", filterable=False)
            step = gr.Slider(1, 100, 100, step=1, label="Training step", info="Snaps to the nearest saved step.")
            wanted = gr.Number(0, precision=0, visible="hidden", label="step")
            measure = gr.Radio(
                [(title, name) for name, (title, _) in figures.MEASURES.items()],
                value="norm",
                label="Colour of the grid",
            )
        with shows():
            said, spectrum = view_of("delta-spectrum", "spectrum")
    with bench():
        with shows(1):
            energy_said, energy = view_of("delta-energy", figure="energy-figure")
        with shows(1):
            grid_said, grid = view_of("delta-layers", figure="measure-figure")
    why("the formula and the paper", WHY)
    folded = folds(DELTA_SPECTRUM)
    outputs = [said, spectrum, energy_said, energy, grid_said, grid]
    views = {"module": module, "layer": layer, "measure": measure}
    watch = Watch()

    def newest(result: SpectrumResult, owner: str, module: str, **views: Any) -> list[Any]:
        return [module_update(result, module), _steps(result), 0, *places_update(result, places)]

    stream = Stream(
        page,
        FOLLOW_DELTA,
        {"run": picker.run},
        picker.visitor,
        outputs,
        show,
        folded,
        watch,
        [module, step, wanted, *places],
        newest,
        views,
    )
    at_step = Connection(page, DELTA_SPECTRUM, {"run": picker.run, "step": wanted}, outputs, show, folded, views=views)
    at_step.on(module.input, layer.input, measure.input)
    step.input(watch.end, None, None, **QUIET)
    moved = step.input(
        fn=None, js="(step) => step", inputs=[step], outputs=[wanted], api_visibility="private", show_progress="hidden"
    )
    at_step.on(moved.then)
    return stream


def _steps(result: SpectrumResult) -> Any:
    """The slider's end for a run that keeps its steps; a run that does not has only its last."""
    last = result.step or 1
    return gr.update(maximum=max(2, last), value=last, interactive=result.step is not None)


def show(result: SpectrumResult, module: str = "", layer: str = ALL_LAYERS, measure: str = "norm") -> list[Any]:
    """The outputs' values; a module that this run did not adapt gives way to its first."""
    chosen = module if module in result.modules else result.modules[0]
    number = layer_number(layer)
    return [
        str(figures.spectrum_sentence(result, chosen)),
        figures.spectrum_figure(result, chosen, number),
        str(figures.energy_sentence(result, chosen)),
        figures.energy_figure(result, chosen, number),
        str(figures.measure_sentence(result, measure)),
        figures.measure_figure(result, measure),
    ]
