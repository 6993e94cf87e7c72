"""What every answer of the server passes: headers, closed paths, and the lecturer's key taken out of the address."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, unquote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.settings import SPACES
from explorer.ui.entry import Entry, cookie, own_address
from explorer.ui.policy import HEADERS, bare_policy
from explorer.ui.rates import TOO_MANY_TRIES, host_of

KEY = "lecturer"
COOKIE = "bert-explorer-lecturer"

CLOSED = (
    "/monitoring",
    "/openapi.json",
    "/svelte/",
    *(
        f"/gradio_api/{route}"
        for route in (
            "component_server",
            "custom_component",
            "deep_link",
            "dev/",
            "monitoring",
            "process_recording",
            "profiling",
            "proxy=",
            "run-history",
            "runs",
            "stream/",
            "token",
            "undo-vibe-edit",
            "vibe-",
        )
    ),
)
"""What Gradio opens to everybody by itself and no page uses: who asked what and how long it took, a session's components as a
file, copies of what was asked in storage of the hub, recordings that it converts, other servers' pages, and so on."""

LINK = re.compile(r"/gradio_api/file[=/]\W*https?\W", re.IGNORECASE)
"""Gradio would fetch that, for anybody and of any size, and hand it on."""

NO_RELAY = "This server hands on its own files alone. Open the link itself."


class FrontDoor:
    """ASGI middleware around the whole app. is_lecturer: whether a key is the server's, which opens the class's door as well.
    sites: who may show the app in a frame."""

    def __init__(
        self, app: ASGIApp, is_lecturer: Callable[[str], bool], entry: Entry | None = None, sites: str = SPACES
    ) -> None:
        self.app, self.is_lecturer, self.entry = app, is_lecturer, entry or Entry()
        self.headers = {**HEADERS, "content-security-policy": bare_policy(sites)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is answered here, and hand everything else on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._own_answer(request) or self.app)(scope, receive, with_headers)

    def _own_answer(self, request: Request) -> Response | None:
        path = request.scope["path"]
        if path.startswith(CLOSED):
            return PlainTextResponse("Not found", status_code=404)
        if LINK.match(path):
            return PlainTextResponse(NO_RELAY, status_code=403)
        if request.method == "GET" and KEY in request.query_params:
            return self._without_key(request)
        return None

    def _without_key(self, request: Request) -> Response:
        """The same address without the key, which a cookie of this browser session keeps if it is the server's.

        In the address it would stand on the projector, in every link that is copied from there, and in the address of every
        request that Gradio's page sends.
        """
        if not self.entry.tries.left(host_of(request)):
            return PlainTextResponse(TOO_MANY_TRIES, status_code=429)
        others = [(name, value) for name, value in request.query_params.multi_items() if name != KEY]
        answer = RedirectResponse(own_address(request, urlencode(others)), status_code=303)
        answer.headers["cache-control"] = "no-store"
        key = request.query_params[KEY]
        if self.is_lecturer(key):
            for line in (cookie(request, COOKIE, quote(key, safe="")), self.entry.cookie(request)):
                answer.headers.append("set-cookie", line)
        else:
            self.entry.tries.count(host_of(request))
        return answer


def lecturers_key(cookies: dict[str, str]) -> str:
    """The key that a browser was given when it came by the lecturer's link, or nothing."""
    return unquote(cookies.get(COOKIE, ""))
