"""Holds back the answer to a question that is put just as the stream of its visitor's answers ends.

Gradio ends a session's stream when nothing is under way. A browser may hear of that after it has heard that its next
question was taken: it believes that the answer will come by the stream that ends, and opens no other, so the answer
stays at the server and the page waits for ever. Therefore the server confirms a question only when a client should know
of the end. A browser of a busy machine may know of it much later: our pages number their streams, the confirmation names
the last one that ended, and the page reads the confirmation once it has read that end (assets/page.js).
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.limits import SESSION

JOIN, DATA = "/gradio_api/queue/join", "/gradio_api/queue/data"
ENDS = b'"msg":"close_stream"'

ARRIVED = "explorer.arrived"
"""The key in a request's scope for the time of its arrival, by a monotonic clock."""

STREAM, ENDED = b"x-explorer-stream", b"x-explorer-ended"
"""A page's header with the number of its stream, and ours with the number of the session's last stream that ended."""

HEARD_SECONDS = 0.125
"""Seconds after which a client that numbers no streams knows that its stream has ended."""

MOST_SESSIONS = 1000
"""Sessions whose ends are remembered: many more than end within HEARD_SECONDS."""


class Closing:
    """ASGI middleware that does the holding back."""

    def __init__(
        self,
        app: ASGIApp,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.app, self._clock, self._sleep = app, clock, sleep
        self._ended: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note when requests come and streams end, and hold back the answers to questions that come with such an end."""
        if scope["type"] == "http":
            scope[ARRIVED] = self._clock()
        if scope["type"] == "http" and scope["path"] == DATA:
            await self.app(scope, receive, self._noting(scope, send))
        elif scope["type"] == "http" and scope["path"] == JOIN:
            await self._join(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _noting(self, scope: Scope, send: Send) -> Send:
        [session] = parse_qs(scope["query_string"].decode()).get("session_hash", [""])[:1]
        stream = dict(scope.get("headers", ())).get(STREAM, b"")
        stream = stream if stream.isdigit() else b""

        async def noted(message: Message) -> None:
            if ENDS in message.get("body", b""):
                self._ended[session] = self._clock(), stream
                self._ended.move_to_end(session)
                while len(self._ended) > MOST_SESSIONS:
                    self._ended.popitem(last=False)
            await send(message)

        return noted

    async def _join(self, scope: Scope, receive: Receive, send: Send) -> None:
        session = ""

        async def read() -> Message:
            nonlocal session
            message = await receive()
            named = SESSION.search(message.get("body", b""))  # which session asks is only said in the request's body
            session = named[1].decode() if named else session
            return message

        async def kept_back(message: Message) -> None:
            if message["type"] == "http.response.start" and session in self._ended:
                ended, stream = self._ended[session]
                if stream:
                    message = {**message, "headers": [*message["headers"], (ENDED, stream)]}
                elif (since := self._clock() - ended) < HEARD_SECONDS:
                    await self._sleep(HEARD_SECONDS - since)
            await send(message)

        await self.app(scope, read, kept_back)
