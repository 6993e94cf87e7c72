"""Makes controls and endpoints from what `explorer.params` declares."""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any

import gradio as gr

from explorer.kinds import Exact, Flag, Name, Number, OneOf, Whole
from explorer.params import declared


def control(params: type, name: str, **options: Any) -> Any:
    """Return the component for one parameter; options replace what is declared (value, label, info, choices, slider) or
    add to it.
    """
    field = declared(params)[name]
    slider = options.pop("slider", field.shown.slider)
    kind = field.kind
    named = zip(kind.titles, kind.known, strict=False) if isinstance(kind, OneOf) else ()
    choices = list(options.pop("choices", field.shown.choices or named))
    value = None if field.default is MISSING else field.default
    given = {"value": value, "label": field.shown.title, "info": field.shown.info, **options}
    if slider:
        low, high, step = (*slider, 1)[:3]
        return gr.Slider(low, high, step=step, **given)
    if most := field.shown.several:
        given["value"] = list(given["value"])
        return gr.Dropdown(choices, multiselect=True, allow_custom_value=True, max_choices=most, **given)
    if choices and isinstance(given["value"], tuple | list):
        return gr.CheckboxGroup(choices, **{**given, "value": list(given["value"])})
    if choices and field.shown.dropdown:
        given = {"filterable": not isinstance(kind, OneOf), **given}
        return gr.Dropdown(choices, **{"allow_custom_value": isinstance(kind, Name), **given})
    if choices:
        return gr.Radio(choices, **given)
    if isinstance(kind, Number):
        return gr.Number(precision=0 if isinstance(kind, Whole | Exact) else None, **given)
    if isinstance(kind, Flag):
        return gr.Checkbox(**given)
    if isinstance(value := given["value"], tuple):
        given["value"] = ", ".join(map(str, value))
    lines = dict(zip(("lines", "max_lines"), field.shown.lines or (), strict=False))
    return gr.Textbox(**{**lines, **given})


def controls(params: type, *names: str, **values: Any) -> dict[str, Any]:
    """Return several parameters' components by name; those in `values` open with these."""
    made = {name: control(params, name) for name in names}
    return made | {name: control(params, name, value=value) for name, value in values.items()}
