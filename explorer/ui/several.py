"""Runs that are started together: followed, stopped all at once, and preceded by bundled ones to look at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import gradio as gr

from explorer.action import LiveAction
from explorer.runs.comparing import Compared
from explorer.ui.kit import QUIET, start_or_stop
from explorer.ui.outputs import Output
from explorer.ui.run_picker import RunPicker
from explorer.ui.streams import Stream


def follow_several(
    picker: RunPicker,
    tab: gr.Tab,
    action: LiveAction,
    inputs: dict[str, Any],
    buttons: tuple[gr.Button, gr.Button],
    shown: Iterable[Output],
    bundled: Collection[str],
    as_result: Callable[[Compared], Any] = lambda compared: compared,
) -> None:
    """Wire Start and Stop; a result has the runs as `records`. as_result: returns the result to draw for bundled runs,
    or None to draw nothing.
    """
    start, stop = buttons
    started = gr.Textbox("", visible="hidden", label="started")

    def steer(result: Any) -> list[Any]:
        active = any(record.status.is_active for record in result.records)
        return [*start_or_stop(active), ",".join(record.run_id for record in result.records)]

    steered = [([start, stop, started], steer)]
    stream = Stream(picker.page, action, inputs, shown, visitor=picker.visitor, steered=steered)
    stream.on(start.click)
    picker.on_press(stop, "stop", started)

    def draw(names: str) -> list[Any]:
        records = tuple(record for name in bundled if (record := picker.found(name)) is not None)
        result = as_result(Compared(records)) if records and not names else None
        return [gr.skip()] * len(places) if result is None else [*stream.shown.values(result), stream.seen(result)]

    places = [*stream.shown.components, stream.folded.table]
    tab.select(draw, [started], places, **QUIET)  # nothing of one's own stands there yet
