"""Keeps the notices above a page's figure up to date.

An answer removes the notice there. Several of a page's figures are computed at once, and on a busy server a visitor's
question may be refused before one that was asked earlier is answered: that answer leaves the refusal where it is. Every
alert has a number, and the page tells with each question which one it shows (assets/page.js): what it asked by itself
just before an alert came does not remove the alert either. An alert also names the components that the refused question
would have filled: the page dims them, since they show the question before.
"""

from __future__ import annotations

import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import gradio as gr

from explorer.serving.sessions import VisitorState

PLACE = "notice-place"
"""The class of the component in which notices are shown."""

ALERT = 'role="alert"'

TOLD = "x-explorer-told"
"""The header that names the last alert on the page that asks; 0 for none. Clients other than the pages send none."""

ACTION = "explorer_action"
"""The attribute of an event's function that names the action which it asks: two actions may fill the same components."""

_asked: ContextVar[float] = ContextVar("asked")
"""When the event that is being answered began, by a monotonic clock."""

_told: ContextVar[int | None] = ContextVar("told", default=None)
"""The last alert on the page when it asked; None if the client did not say."""


@dataclass(frozen=True)
class Notice:
    """A notice that a visitor was given. by: the components that the action fills. asked, given: by a monotonic clock,
    in seconds. number: of an alert. action: the refused one's name, if it has one.
    """

    by: tuple[int, ...]
    asked: float
    given: float
    number: int = 0
    action: str = ""

    def out_of_date(self, by: tuple[int, ...], asked: float, told: int | None = None, action: str = "") -> bool:
        """Return whether an answer removes the notice: to a question asked since, or to a later question of the same
        action.

        told: the last alert on the page that asked, if known.
        """
        seen = told is None or told >= self.number
        same = (by, action) == (self.by, self.action)
        return (asked >= self.given and seen) or (same and asked >= self.asked)


class NoticingPages(gr.Blocks):
    """Pages on which an older answer does not remove a newer notice."""

    async def process_api(self, *given: Any, **named: Any) -> dict[str, Any]:
        """Process a call as Gradio does; which alert the page showed when it asked is kept for the answer."""
        _told.set(_told_by(named.get("request", given[3] if given[3:] else None)))
        return await super().process_api(*given, **named)

    async def preprocess_data(self, *given: Any, **named: Any) -> Any:
        """Read the inputs as Gradio does, and note the time: it calls this once for each event, however many results
        the event has.
        """
        _asked.set(time.monotonic())
        return await super().preprocess_data(*given, **named)

    async def postprocess_data(self, block_fn: Any, predictions: Any, state: Any) -> list[Any]:
        """Return the outputs as Gradio does, except that an answer which comes too late leaves the notice unchanged."""
        values = await super().postprocess_data(block_fn, predictions, state)
        if not isinstance(state, VisitorState):
            return values
        by, action = tuple(component._id for component in block_fn.outputs), getattr(block_fn.fn, ACTION, "")
        for number, component in enumerate(block_fn.outputs):
            if PLACE in getattr(component, "elem_classes", ()) and isinstance(values[number], str):
                values[number] = _said(state, component._id, by, values[number], action)
        return values


def _told_by(request: Any) -> int | None:
    told = request.headers.get(TOLD, "") if isinstance(request, gr.Request) and request.request else ""
    return int(told) if told.isdecimal() else None


def _said(state: VisitorState, place: int, by: tuple[int, ...], text: str, action: str) -> Any:
    """Return what an event may show at a place, and note it; an empty text is what an answer shows."""
    notices, now = state.notices, time.monotonic()
    asked = _asked.get(now)
    if text:
        state.alerts += ALERT in text
        number = state.alerts if ALERT in text else 0
        notices[place] = Notice(by, asked, now, number, action)
        filled = ",".join(map(str, by))
        return text.replace(ALERT, f'{ALERT} data-told="{number}" data-by="{filled}"', 1) if number else text
    if place in notices and not notices[place].out_of_date(by, asked, _told.get(), action):
        return gr.skip()
    notices.pop(place, None)
    return text
