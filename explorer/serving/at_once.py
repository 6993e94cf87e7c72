"""Reads and writes the values of plain components where the event is answered, and not in a thread.

Gradio 6.31 hands every single value of an event to a worker thread, for the sake of images and films; a question of eight
parameters is eight times handed over and back, which takes a fifth of what the server spends on it besides the model.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import anyio
import gradio as gr
import gradio.blocks

QUICK = (gr.Textbox, gr.Number, gr.Slider, gr.Checkbox, gr.Radio, gr.Dropdown, gr.CheckboxGroup, gr.HTML, gr.Markdown)
"""Components whose values are looked at and passed on: no file is read, nothing is drawn."""


async def run_sync(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """Call a function in a worker thread, as anyio does; a quick component's own functions here."""
    if isinstance(getattr(function, "__self__", None), QUICK) and function.__name__ in ("preprocess", "postprocess"):
        return function(*given)
    return await anyio.to_thread.run_sync(function, *given, **options)


def install() -> None:
    """Have Gradio's events use it: its module of events takes nothing else of anyio by that name."""
    assert hasattr(gradio.blocks, "anyio"), "gradio.blocks has no anyio any more: look at how this Gradio reads values"
    gradio.blocks.anyio = SimpleNamespace(to_thread=SimpleNamespace(run_sync=run_sync))
