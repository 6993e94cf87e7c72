"""What a page says above its figure, and when it is out of date.

An answer takes away what stands there. Several of a page's figures are computed at once, and on a busy server a visitor's
question may be refused before one that was asked earlier is answered: that answer leaves the refusal where it is.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.ui.sessions import VisitorState

PLACE = "notice-place"
"""The class of the component that notices stand in."""

_asked: ContextVar[float] = ContextVar("asked")
"""When the event that is being answered began."""


@dataclass(frozen=True)
class Notice:
    """What a visitor was told. by: what the action fills; asked and given: by a monotonic clock, in seconds."""

    by: tuple[int, ...]
    asked: float
    given: float

    def out_of_date(self, by: tuple[int, ...], asked: float) -> bool:
        """Whether an answer takes it away: to a question asked since, or to a later question of the same action."""
        return asked >= self.given or (by == self.by and asked >= self.asked)


class NoticingPages(gr.Blocks):
    """Pages on which an older answer does not take away a newer notice."""

    async def preprocess_data(self, *given: Any, **named: Any) -> Any:
        """As Gradio's, which calls it once for each event, however many results the event has."""
        _asked.set(time.monotonic())
        return await super().preprocess_data(*given, **named)

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """As Gradio's, but an answer that came too late says nothing where the notice stands."""
        values = await super().postprocess_data(block_fn, predictions, state)
        if not isinstance(state, VisitorState):
            return values
        by = tuple(component._id for component in block_fn.outputs)
        for number, component in enumerate(block_fn.outputs):
            if PLACE in getattr(component, "elem_classes", ()) and isinstance(values[number], str):
                values[number] = _said(state.notices, component._id, by, values[number])
        return values


def _said(notices: dict[int, Notice], place: int, by: tuple[int, ...], text: str) -> Any:
    """What an event may say at a place, which is noted; an empty text is what an answer says."""
    now = time.monotonic()
    asked = _asked.get(now)
    if text:
        notices[place] = Notice(by, asked, now)
        return text
    if place in notices and not notices[place].out_of_date(by, asked):
        return gr.skip()
    notices.pop(place, None)
    return text
