"""What every answer of the server passes: headers, closed paths, and the lecturer's key taken out of the address."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote, unquote, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

KEY = "lecturer"
COOKIE = "bert-explorer-lecturer"

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "content-security-policy": "frame-ancestors 'self' https://huggingface.co https://*.huggingface.co",
}
"""Spaces show an app in a frame of huggingface.co; nobody else may."""

CLOSED = ("/monitoring", "/gradio_api/monitoring", "/gradio_api/deep_link")
"""What Gradio opens to everybody by itself: who asked what and how long it took, and a session's components as a file."""


class FrontDoor:
    """ASGI middleware around the whole app. is_lecturer: whether a key is the server's."""

    def __init__(self, app: ASGIApp, is_lecturer: Callable[[str], bool]) -> None:
        self.app, self.is_lecturer = app, is_lecturer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is answered here, and hand everything else on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await (self._own_answer(request) or self.app)(scope, receive, with_headers)

    def _own_answer(self, request: Request) -> Response | None:
        path = request.scope["path"]
        if path.startswith(CLOSED):
            return PlainTextResponse("Not found", status_code=404)
        if request.method == "GET" and KEY in request.query_params:
            return self._without_key(request)
        return None

    def _without_key(self, request: Request) -> Response:
        """The same address without the key, which a cookie of this browser session keeps if it is the server's.

        In the address it would stand on the projector, in every link that is copied from there, and in the address of every
        request that Gradio's page sends.
        """
        others = [(name, value) for name, value in request.query_params.multi_items() if name != KEY]
        page = request.scope["path"].rsplit("/", 1)[-1] or "./"  # relative, so that it works behind any path prefix
        answer = RedirectResponse(f"{page}?{urlencode(others)}" if others else page, status_code=303)
        answer.headers["cache-control"] = "no-store"
        key = request.query_params[KEY]
        if self.is_lecturer(key):
            framed = request.headers.get("x-forwarded-proto", request.url.scheme) == "https"
            cookie = f"{COOKIE}={quote(key, safe='')}; Path=/; HttpOnly"
            answer.headers["set-cookie"] = cookie + (
                "; SameSite=None; Secure; Partitioned" if framed else "; SameSite=Lax"
            )
        return answer


def lecturers_key(cookies: dict[str, str]) -> str:
    """The key that a browser was given when it came by the lecturer's link, or nothing."""
    return unquote(cookies.get(COOKIE, ""))
