"""The pages' HTML, made and compressed once: it is the same for every visitor who comes by the same host.

Gradio 6.31 copies and writes a page's description anew at each request: 26 to 70 ms of processor time and 260 to 500 KB.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from collections.abc import Callable, Collection

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_PAGES = 64
"""Hosts come from visitors' requests, so what is kept of them is bounded."""

ORIGIN = ("host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server")
"""The headers from which Gradio takes the server's own address, which stands in the page."""

Key = tuple[str, ...]


class KeptPages:
    """ASGI middleware. paths: of the pages, such as "/masking". dressed: what is made of Gradio's HTML. policy: what makes a
    page's Content-Security-Policy from its HTML, if it has one."""

    def __init__(
        self,
        app: ASGIApp,
        paths: Collection[str],
        dressed: Callable[[str], str] = str,
        policy: Callable[[str], str] | None = None,
    ) -> None:
        self.app, self.paths, self.dressed, self.policy = app, frozenset(paths), dressed, policy
        self.kept: OrderedDict[Key, tuple[bytes, dict[str, str]]] = OrderedDict()
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A page from memory, or made now and kept; everything else as it comes."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        key = (scope["path"], scope["scheme"], scope.get("root_path", ""), *map(str, map(request.headers.get, ORIGIN)))
        if key not in self.kept:
            async with self._making:  # a class that comes at once has each page made once
                other = None if key in self.kept else await self._make(key, scope, receive)
            if other is not None:
                await other(scope, receive, send)
                return
        self.kept.move_to_end(key)
        await _answer(*self.kept[key], "gzip" in request.headers.get("accept-encoding", ""))(scope, receive, send)

    async def _make(self, key: Key, scope: Scope, receive: Receive) -> Response | None:
        """Have the page made and keep it; the answer itself where it is anything but a page."""
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self.app({**scope, "headers": plain, "query_string": b""}, receive, collect)
        if start["status"] != 200:
            other = Response(bytes(body), start["status"])
            other.raw_headers = start["headers"]
            return other
        page = self.dressed(body.decode())
        headers = {"content-security-policy": self.policy(page)} if self.policy else {}
        self.kept[key] = gzip.compress(page.encode(), compresslevel=6), headers
        while len(self.kept) > MOST_PAGES:
            self.kept.popitem(last=False)
        return None


def _answer(compressed: bytes, own: dict[str, str], takes_gzip: bool) -> Response:
    headers = {"vary": "accept-encoding", "cache-control": "no-cache", **own}
    if takes_gzip:
        return Response(compressed, media_type="text/html", headers={**headers, "content-encoding": "gzip"})
    return Response(gzip.decompress(compressed), media_type="text/html", headers=headers)
