"""Several runs that are started together: followed, stopped all at once, and bundled ones to look at before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.ui.kit import start_or_stop
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream, Watch
from explorer.ui.wiring import Show, folds


def follow_several(
    picker: RunPicker,
    tab: gr.Tab,
    action: LiveAction,
    inputs: dict[str, Any],
    buttons: tuple[gr.Button, gr.Button],
    outputs: Sequence[gr.components.Component],
    show: Show,
    bundled: Sequence[str],
    first: Callable[..., Sequence[Any]] | None = None,
) -> None:
    """Wire Start and Stop; a result has the runs as `records`. `first` shows the bundled runs, where not `show`."""
    start, stop = buttons
    started = gr.Textbox("", visible="hidden", label="started")

    def steer(result: Any, owner: str) -> list[Any]:
        active = any(record.status.is_active for record in result.records)
        return [*start_or_stop(active), ",".join(record.run_id for record in result.records)]

    controls = [start, stop, started]
    panel = folds(action)
    stream = Stream(picker.page, action, inputs, picker.visitor, outputs, show, panel, Watch(), controls, steer)
    stream.on(start.click)
    picker.on_press(stop, "stop", started)
    picker.draw_first(tab, started, bundled, first or show, outputs)
