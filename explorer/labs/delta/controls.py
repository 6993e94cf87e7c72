"""Which matrix of which layer: the two lists that every tab of this page has."""

from __future__ import annotations

from typing import Any

import gradio as gr

from explorer.errors import ExplorerError
from explorer.labs.delta.params import PlacementParams
from explorer.labs.delta.schema import SpectrumResult
from explorer.labs.delta.spectrum.figures import module_name
from explorer.settings import settings
from explorer.tuning.methods import find_method
from explorer.tuning.spec import TARGETS, RunSpec
from explorer.ui.controls import control
from explorer.ui.kit import QUIET
from explorer.ui.run_picker import RunPicker

ALL_LAYERS = "all"
FIRST_MODULE = "query"
OPENING_LAYER = 5
"""The last of the worked example's six, in which its update has most structure."""


def layer_choices(count: int) -> list[tuple[str, str]]:
    """All layers together, then each by its number from 0."""
    return [("all layers", ALL_LAYERS), *((f"layer {number}", str(number)) for number in range(count))]


def layer_number(value: object) -> int | None:
    """The number of a layer; None for all of them."""
    return int(value) if isinstance(value, (int, str)) and str(value).isdigit() else None


def module_update(result: SpectrumResult, chosen: object = None) -> Any:
    """The modules that a run adapted, as choices; the first is chosen where the chosen one is not among them."""
    choices = [(module_name(name), name) for name in result.modules]
    value = chosen if chosen in result.modules else result.modules[0]
    return gr.update(choices=choices, value=value)


def places_update(result: SpectrumResult, places: list[gr.components.Component]) -> list[Any]:
    """The matrices and the layers that a run has, for lists made by matrix_choice.

    A choice stands while a run trains on, so the list's value changes only for a run without the list's first matrix.
    """
    layers = gr.update(label=f"Layer, 0 to {max(site.layer for site in result.sites)}")
    modules = module_update(result, FIRST_MODULE)
    if FIRST_MODULE in result.modules:
        modules = gr.update(choices=[(module_name(name), name) for name in result.modules])
    return [modules if isinstance(place, gr.Dropdown) else layers for place in places]


def stay_within(picker: RunPicker, places: list[gr.components.Component]) -> None:
    """When another run is chosen, no layer and no matrix is looked at that it does not have."""

    def within(run: str, *standing: Any) -> Any:
        try:
            spec = picker.page.engine.runs.get(run).spec
            last, names = _depth(spec) - 1, _matrices(spec)
        except ExplorerError:
            return [gr.skip()] * len(standing)
        return [
            _among(names, value) if isinstance(place, gr.Dropdown) else _at_most(last, value)
            for place, value in zip(places, standing, strict=True)
        ]

    picker.run.change(within, [picker.run, *places], places, **QUIET)


def _among(names: list[str], chosen: object) -> Any:
    value = chosen if chosen in names else names[0]
    return gr.update(choices=[(module_name(name), name) for name in names], value=value)


def _at_most(last: int, layer: float | None) -> Any:
    return gr.skip() if layer is None or layer <= last else last


def _depth(spec: RunSpec) -> int:
    from explorer.runs.checks import depth_of_model

    return spec.student_layers or depth_of_model(spec.model, settings())


def _matrices(spec: RunSpec) -> list[str]:
    """What a run adapts in each layer, by the names that its family gives them."""
    from explorer.runs.checks import matrices_of_model

    method = find_method(spec.method)
    roles = spec.targets if "targets" in method.options else () if method.whole_tensors else ("key", "value", "ffn_out")
    return matrices_of_model(spec.model, settings(), roles)


def matrix_choice() -> tuple[gr.Dropdown, gr.Number]:
    """The module and the layer of one matrix."""
    modules = [(module_name(name), name) for name in TARGETS]
    module = control(PlacementParams, "module", choices=modules)
    return module, control(PlacementParams, "layer", value=OPENING_LAYER, minimum=0)
