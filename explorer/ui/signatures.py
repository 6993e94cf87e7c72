"""The signature of an event's function: parameters by their names, and the inputs that a client may send or leave out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from typing import Any, cast

import gradio as gr


def for_clients(inputs: dict[str, Any], params: type) -> dict[str, Any]:
    """Return an endpoint's inputs: those of the page, without a control's limits, and with the defaults of `params`.

    A client's value is then refused by `params`, in a sentence that names the parameter, and not by the slider or the
    list.
    """
    standard = {field.name: field.default for field in fields(params) if field.default is not MISSING}
    with gr.Column(visible=False):
        return {name: _unlimited(part, standard.get(name, part.value)) for name, part in inputs.items()}


def left_out(params: type) -> list[str]:
    """Return the parameters that a client may leave out although no value stands for them."""
    return [field.name for field in fields(params) if field.default is None]


def _unlimited(part: Any, value: Any) -> Any:
    """Return a hidden component that takes any value, for one that has limits or shows another value; others unchanged."""
    listed = isinstance(part, gr.Dropdown) and isinstance(value, int)  # "every second layer" stands for 0
    if listed or isinstance(part, (gr.Slider, gr.Number)):
        return gr.Number(value, label=part.label)
    if isinstance(part, (gr.CheckboxGroup, gr.Radio)) or (
        isinstance(part, gr.Dropdown) and not part.allow_custom_value
    ):
        # A list that takes other values too, so that `params` refuses them in its own words.
        several, choices = isinstance(part, gr.CheckboxGroup), cast(Any, part.choices)
        value = list(value) if several else value
        return gr.Dropdown(choices, value=value, multiselect=several, allow_custom_value=True, label=part.label)
    if isinstance(part, (gr.Textbox, gr.Dropdown)) and isinstance(value, str) and value != part.value:
        return gr.Textbox(value, label=part.label)
    return part


def named(
    function: Callable[..., Any],
    names: Sequence[str],
    with_event: bool = False,
    streams: bool = False,
    optional: Sequence[str] = (),
) -> Callable[..., Any]:
    """Give a **kwargs function the signature from which Gradio reads parameter names.

    with_event: it also receives the event. streams: it is an async generator, and also receives the request. optional:
    the names that a client may leave out although their component is empty.
    """
    annotations: dict[str, type] = {}
    if with_event:

        async def called(event: gr.EventData, **values: Any) -> Any:
            return await function(event=event, **values)

        annotations["event"] = gr.EventData
    elif streams:

        async def called(request: gr.Request, **values: Any) -> Any:  # type: ignore[misc]
            async for shown in function(request=request, **values):
                yield shown

        annotations["request"] = gr.Request
    else:

        async def called(**values: Any) -> Any:  # type: ignore[misc]
            return await function(**values)

    first = [
        inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
        for name, kind in annotations.items()
    ]
    standard = dict.fromkeys(optional)
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=standard.get(name, inspect.Parameter.empty))
        for name in names
    ]
    called.__annotations__ = dict(annotations)  # Gradio finds the event and the request by their annotations
    called.__signature__ = inspect.Signature([*first, *parameters])  # type: ignore[attr-defined]
    return called
