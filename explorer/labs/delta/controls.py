"""Which matrix of which layer: the two lists that every tab of this page has."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.errors import ExplorerError
from explorer.labs.delta.params import OPENING_LAYER, PlacementParams
from explorer.labs.delta.schema import SpectrumResult
from explorer.labs.delta.spectrum_figures import module_name
from explorer.settings import settings
from explorer.tuning.methods import find_method
from explorer.tuning.spec import TARGETS, RunSpec
from explorer.ui.components import once_known, while_in_view
from explorer.ui.controls import control
from explorer.ui.kit import QUIET
from explorer.ui.run_picker import RunPicker

ALL_LAYERS = "all"


def layer_choices(count: int) -> list[tuple[str, str]]:
    """Return the choice of all layers together, then of each by its number from 0."""
    return [("all layers", ALL_LAYERS), *((f"layer {number}", str(number)) for number in range(count))]


def layer_number(value: object) -> int | None:
    """Return the number of a layer; None for all of them."""
    return int(value) if isinstance(value, (int, str)) and str(value).isdigit() else None


def module_update(result: SpectrumResult, chosen: object = None) -> Any:
    """Return the modules that a run adapted, as choices; the first is chosen if the chosen one is not among them."""
    choices = [(module_name(name), name) for name in result.modules]
    value = chosen if chosen in result.modules else result.modules[0]
    return gr.update(choices=choices, value=value)


class Settled:
    """The run that is looked at, once all tabs' lists of matrices and layers are its own."""

    def __init__(self) -> None:
        self.run = gr.Textbox("", label="run that is looked at", visible="hidden")

    def in_view(self, tab: gr.Tab, part: str) -> list[Any]:
        """Return what fires when a tab is opened, and for another run while this part of it can be seen."""
        return [once_known(self.run, tab.select), while_in_view(part, self.run.change)]


def stay_within(picker: RunPicker, places: list[gr.components.Component], settled: Settled) -> None:
    """Wire the choice of a run so that only layers and matrices that it has can be looked at."""

    def within(run: str | None, *standing: Any) -> list[Any]:
        if not run:  # before the page knows which
            return [gr.skip()] * (len(standing) + 1)
        try:
            spec = picker.page.engine.runs.get(run).spec
            last, names = _depth(spec) - 1, _matrices(spec)
        except ExplorerError:
            # A run that is gone: the places stay, and the question says what is wrong.
            return [*[gr.skip()] * len(standing), run]
        values = [
            _among(names, value) if isinstance(place, gr.Dropdown) else _at_most(last, value)
            for place, value in zip(places, standing, strict=True)
        ]
        return [*values, run]  # its change asks, and the places are set with it

    picker.run.change(within, [picker.run, *places], [*places, settled.run], **QUIET)


def _among(names: list[str], chosen: object) -> Any:
    value = chosen if chosen in names else names[0]
    return gr.update(choices=[(module_name(name), name) for name in names], value=value)


def _at_most(last: int, layer: float | None) -> Any:
    label = f"Layer, 0 to {last}"
    return gr.update(label=label) if layer is None or layer <= last else gr.update(label=label, value=last)


def _depth(spec: RunSpec) -> int:
    from explorer.runs.checks import depth_of_model

    return spec.student_layers or depth_of_model(spec.model, settings())


def _matrices(spec: RunSpec) -> list[str]:
    """Return what a run adapts in each layer, by the names that its family gives them."""
    from explorer.runs.checks import matrices_of_model

    method = find_method(spec.method)
    roles = spec.targets if "targets" in method.options else () if method.whole_tensors else ("key", "value", "ffn_out")
    return matrices_of_model(spec.model, settings(), roles)


def matrix_choice(tab: str) -> tuple[gr.Dropdown, gr.Number]:
    """Lay out the module and the layer of one matrix; the layer's box is called `<tab>-layer`."""
    modules = [(module_name(name), name) for name in TARGETS]
    module = control(PlacementParams, "module", choices=modules)
    return module, control(PlacementParams, "layer", value=OPENING_LAYER, minimum=0, elem_id=f"{tab}-layer")
