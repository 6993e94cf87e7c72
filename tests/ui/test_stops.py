"""Stop ends a stream, and Start comes back whatever the stream had sent before it heard of that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from starlette.requests import Request

from explorer.serving.closing import ARRIVED
from explorer.serving.notices import ACTION
from explorer.ui.streams import Stream
from explorer.ui.wiring import Question
from tests import loops

VISITOR = SimpleNamespace(session_hash="s")
STOPPED = "Stopped."


class Counting(Stream):
    """A stream of three numbers, or of one and an error, without an engine."""

    broken = False
    events: dict[int, Any]

    def __init__(self) -> None:
        page = SimpleNamespace(
            notice=gr.HTML(), explain=str, engine=SimpleNamespace(runs=None), fallback=None, bindings=[]
        )
        self.bar, self.start, self.stop = gr.HTML(), gr.Button("Start"), gr.Button("Stop")
        action = SimpleNamespace(takes_model=False, table=None, name="count")
        folded = SimpleNamespace(outputs=[], whole=None)
        buttons = ([self.start, self.stop], lambda result: [gr.update(visible=False), gr.update(visible=True)])
        bar = (self.bar, lambda result: f"{result} of 3")
        super().__init__(page, action, {}, [bar], folded, steered=[buttons], publish=False)  # type: ignore[arg-type]
        self.stops(self.start, self.stop, self.bar, STOPPED)
        self.on(self.start.click)

    async def answers(self, *given: Any, **named: Any) -> AsyncIterator[Any]:  # type: ignore[override]
        for number in (1, 2, 3):
            yield number, [f"{number} of 3"]
            if self.broken:
                raise RuntimeError("no memory")

    def question(self, values: dict[str, Any]) -> Question:
        raise NotImplementedError


class Endless:
    """What is followed for a long time without a result."""

    closed = False

    def __next__(self) -> None:
        return None

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def stream() -> Counting:
    with gr.Blocks() as blocks:
        stream = Counting()
    stream.events = {event.targets[0][0]: event.fn for event in blocks.fns.values()}
    return stream


def events(stream: Counting) -> tuple[Any, Any]:
    """What Stop and Start do."""
    return stream.events[stream.stop._id], stream.events[stream.start._id]


def shown(message: list[Any]) -> tuple[Any, Any, Any]:
    """Of a message: the bar, and whether Start and Stop can be seen."""
    _, bar, start, stop = message
    return bar, start.get("visible"), stop.get("visible")


def test_what_was_on_its_way_when_stop_was_pressed_is_taken_back(stream: Counting) -> None:
    stop, start = events(stream)

    async def visit() -> None:
        messages = start(request=VISITOR)
        assert shown(await anext(messages)) == ("1 of 3", False, True)
        *buttons, bar = stop(VISITOR)  # the answer to this may come before the message above
        assert (bar, [button["visible"] for button in buttons]) == (STOPPED, [True, False])
        assert [shown(message) async for message in messages] == [(STOPPED, True, False)]

    loops.run(visit())


def test_start_pressed_again_is_not_taken_back(stream: Counting) -> None:
    stop, start = events(stream)

    async def visit() -> None:
        first = start(request=VISITOR)
        await anext(first)
        stop(VISITOR)
        second = start(request=VISITOR)
        await anext(second)
        [last] = [message async for message in first]
        assert "visible" not in last[2]
        assert [shown(message)[0] async for message in second][:-1] == ["2 of 3", "3 of 3"]

    loops.run(visit())


def asked_at(arrived: float) -> gr.Request:
    scope = {"type": "http", "headers": [], "query_string": b"", "path": "/", ARRIVED: arrived}
    return gr.Request(Request(scope), session_hash="s")


def test_what_was_asked_before_stop_does_not_begin_after_it(stream: Counting) -> None:
    """A question waits in Gradio's queue for a moment, and Stop does not."""
    stop, start = events(stream)

    async def messages(arrived: float) -> list[Any]:
        return [shown(message) async for message in start(request=asked_at(arrived))]

    stop(asked_at(2.0))
    assert loops.run(messages(1.9)) == [(STOPPED, True, False)]
    assert loops.run(messages(2.1))[0] == ("1 of 3", False, True)
    assert loops.run(messages(2.2))[0] == ("1 of 3", False, True)


def test_its_events_say_which_action_they_ask(stream: Counting) -> None:
    _, start = events(stream)
    assert getattr(start, ACTION) == "count"


def test_what_was_asked_first_and_begins_last_draws_nothing(stream: Counting) -> None:
    """Gradio takes what waits in its queue in a random order."""
    _, start = events(stream)

    async def visit() -> None:
        later = start(request=asked_at(2.0))
        assert shown(await anext(later))[0] == "1 of 3"
        [nothing] = [message async for message in start(request=asked_at(1.9))]
        assert all(part == gr.skip() for part in nothing)
        assert [shown(message)[0] async for message in later][:-1] == ["2 of 3", "3 of 3"]

    loops.run(visit())


@pytest.mark.parametrize(("turned", "goes_on"), [(1.9, True), (2.1, False)])
def test_a_stream_ends_when_the_visitor_has_turned_to_something_else_since(
    stream: Counting, turned: float, goes_on: bool
) -> None:
    _, start = events(stream)

    async def visit() -> None:
        messages = start(request=asked_at(2.0))
        await anext(messages)
        stream.watch.end(asked_at(turned))
        after, *_ = [shown(message)[0] async for message in messages]
        assert (after == "2 of 3") is goes_on

    loops.run(visit())


def test_the_work_ends_at_stop_though_its_next_result_is_far(stream: Counting) -> None:
    follow = Endless()
    stream.action.follow = lambda *given: follow  # type: ignore[method-assign]

    async def visit() -> None:
        stream.watch.begin(asked_at(1.0), {})
        waiting = asyncio.ensure_future(anext(stream.results(Question("", None, ""), "", asked_at(1.1)), "no more"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        stream.watch.stop(asked_at(2.0))
        assert await asyncio.wait_for(waiting, 60) == "no more"

    loops.run(visit())
    assert follow.closed


def test_an_error_brings_start_back(stream: Counting) -> None:
    stream.broken = True
    _, start = events(stream)

    async def visit() -> list[Any]:
        return [message async for message in start(request=VISITOR)]

    *_, last = loops.run(visit())
    assert shown(last) == ("", True, False)
    assert last[0]
