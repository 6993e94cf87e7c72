"""A question that is put as its visitor's stream ends is said to be taken when the browser has heard of the end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from gradio.server_messages import CloseStreamMessage

from explorer.serving.closing import DATA, ENDED, HEARD_SECONDS, JOIN, MOST_SESSIONS, STREAM, Closing
from tests.loops import run


class Server:
    """The middleware with a clock of its own; says in which order what was sent."""

    def __init__(self) -> None:
        self.now, self.said = 100.0, list[Any]()
        self.app = Closing(self._answer, lambda: self.now, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        self.said.append(("waited", seconds))
        self.now += seconds

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        ends = f"data: {CloseStreamMessage().model_dump_json()}\n\n" if scope["path"] == DATA else "{}"
        await send({"type": "http.response.body", "body": ends.encode()})

    def request(self, path: str, session: str, stream: bytes = b"") -> list[Any]:
        """What happens at a request of a session: waits, what is sent, and which stream is said to have ended."""
        self.said = []

        async def receive() -> Any:
            return {"type": "http.request", "body": json.dumps({"data": ["x"], "session_hash": session}).encode()}

        async def send(message: Any) -> None:
            self.said.append(message["type"])
            self.said += [value for name, value in message.get("headers", ()) if name == ENDED]

        headers = [(STREAM, stream)] if stream else []
        scope = {"type": "http", "path": path, "query_string": f"session_hash={session}".encode(), "headers": headers}
        run(self.app(scope, receive, send))
        return self.said


SENT = ["http.response.start", "http.response.body"]


def test_it_waits_for_what_is_left_and_only_after_the_same_session_s_end() -> None:
    server = Server()
    assert server.request(JOIN, "a") == SENT, "no stream has ended"
    assert server.request(DATA, "a") == SENT
    server.now += HEARD_SECONDS / 4
    assert server.request(JOIN, "b") == SENT
    assert server.request(JOIN, "a") == [("waited", pytest.approx(HEARD_SECONDS * 3 / 4)), *SENT]
    assert server.request(JOIN, "a") == SENT, "it is known by now"


def test_an_end_while_the_question_is_read_counts_too() -> None:
    server = Server()

    async def ends_meanwhile(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == JOIN:
            await asyncio.to_thread(server.request, DATA, "a")
            server.said = []
        await Server._answer(server, scope, receive, send)

    server.app.app = ends_meanwhile
    assert server.request(JOIN, "a") == [("waited", HEARD_SECONDS), *SENT]


def test_a_page_that_numbers_its_streams_is_told_which_has_ended_and_waits_for_it_itself() -> None:
    server = Server()
    server.request(DATA, "a", b"1")
    server.request(DATA, "a", b"2")
    assert server.request(JOIN, "a") == ["http.response.start", b"2", "http.response.body"]
    assert server.request(JOIN, "b") == SENT
    server.request(DATA, "c", b"no number")
    assert server.request(JOIN, "c") == [("waited", HEARD_SECONDS), *SENT], (
        "what stands in no header of ours is not repeated"
    )


def test_few_ends_are_remembered() -> None:
    server = Server()
    for number in range(MOST_SESSIONS + 1):
        server.request(DATA, f"s{number}")
    assert len(server.app._ended) == MOST_SESSIONS
    assert server.request(JOIN, "s0") == SENT
