"""Caches the pages' HTML, compressed: it is the same for every visitor who comes by the same host.

Gradio 6.31 copies and writes a page's description anew at each request: 26 to 70 ms of processor time and 260 to 500
KB.
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
"""Pages that are kept at most: hosts come from visitors' requests, so their number must be bounded."""

ORIGIN = ("host", "x-forwarded-host", "x-forwarded-proto", "x-gradio-server")
"""The headers from which Gradio takes the server's own address, which is written into the page."""

Key = tuple[str, ...]


class KeptPages:
    """ASGI middleware. paths: of the pages, such as "/masking". dressed: turns Gradio's HTML into ours. policy: returns
    a page's Content-Security-Policy from its HTML, if given.
    """

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
        """Answer with a page from memory, or one that is made now and kept; hand everything else on."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in self.paths:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        key = (scope["path"], scope["scheme"], scope.get("root_path", ""), *map(str, map(request.headers.get, ORIGIN)))
        if key not in self.kept:
            async with self._making:  # a class that comes at once has each page made once
                # Another request may have made it while this one waited.
                other = None if key in self.kept else await self._make(key, scope, receive)
            if other is not None:
                await other(scope, receive, send)
                return
        self.kept.move_to_end(key)
        await _answer(*self.kept[key], "gzip" in request.headers.get("accept-encoding", ""))(scope, receive, send)

    async def _make(self, key: Key, scope: Scope, receive: Receive) -> Response | None:
        """Have the page made and keep it. Returns the answer itself if it is anything but a page."""
        start: Message = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        # Uncompressed, since the page is changed below.
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
