"""Middleware around every answer of the server: headers, closed paths, and removal of the lecturer's key from the address."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote, urlencode, urlsplit

import gradio.routes
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.class_door import Entry, cookie, own_address
from explorer.serving.policy import HEADERS, bare_policy
from explorer.serving.rates import TOO_MANY_TRIES, host_of
from explorer.settings import SPACES

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
"""Paths that Gradio opens to everybody and no page uses: who asked what and how long it took, a session's components as
a file, copies of questions in storage of the hub, recordings that it converts, other servers' pages, and so on.
"""

LINK = re.compile(r"/gradio_api/file[=/]\W*https?\W", re.IGNORECASE)
"""Matches a file by a link, which Gradio would fetch for anybody, of any size, and hand on."""

NO_RELAY = "This server hands on its own files alone. Open the link itself."


READS = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Names that lead to this machine only: Gradio asks itself by one when it starts."""

OTHER_SITE = (
    "Another site sent this for you. Open the app itself and ask there. (If you did, a proxy in between hides the name by which "
    "you asked: it has to pass on the Host.)"
)
OTHER_NAME = "This server does not go by that name. Ask whoever runs it for its address (EXPLORER_HOSTS)."


class FrontDoor:
    """ASGI middleware around the whole app. is_lecturer: returns whether a key is the server's, which opens the class's
    door as well. sites: the sites that may show the app in a frame. hosts: the names by which the server may be asked;
    any if empty.
    """

    def __init__(
        self,
        app: ASGIApp,
        is_lecturer: Callable[[str], bool],
        entry: Entry | None = None,
        sites: str = SPACES,
        hosts: Sequence[str] = (),
    ) -> None:
        self.hosts = frozenset(name.casefold() for name in (*hosts, *LOOPBACK)) if hosts else frozenset()
        self.app, self.is_lecturer, self.entry = app, is_lecturer, entry or Entry()
        self.headers = {**HEADERS, "content-security-policy": bare_policy(sites)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is answered here, and hand everything else on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope)

        sent_by_another = request.headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
        foreign = sent_by_another or not _own_origin(request)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in [name for name in headers if foreign and name.startswith("access-control-")]:
                    del headers[name]
                for name, value in self.headers.items():
                    headers.setdefault(name, value)  # a page has a policy of its own already
            await send(message)

        answer = self._own_answer(request)
        # A browser says which site sent a question only over TLS or to this machine itself; elsewhere its Origin tells.
        # A proxy on this machine may ask by another name than the visitor did.
        told = _name_of(request.headers.get("host", "")) in LOOPBACK
        if answer is None and (sent_by_another or (foreign and not told)) and request.method not in READS:
            answer = PlainTextResponse(OTHER_SITE, status_code=403)
        await (answer or self.app)(scope, receive, with_headers)

    def _own_answer(self, request: Request) -> Response | None:
        path = request.scope["path"]
        if self.hosts and _name_of(request.headers.get("host", "")) not in self.hosts:
            return PlainTextResponse(OTHER_NAME, status_code=421)
        if path.startswith(CLOSED):
            return PlainTextResponse("Not found", status_code=404)
        if LINK.match(path):
            return PlainTextResponse(NO_RELAY, status_code=403)
        if request.method == "GET" and KEY in request.query_params:
            return self._without_key(request)
        return None

    def _without_key(self, request: Request) -> Response:
        """Redirect to the same address without the key, which a cookie of this browser session keeps if it is the server's."""
        host, key = host_of(request), request.query_params[KEY]
        known = self.entry.checks.take(host) and self.is_lecturer(key)
        if not known and not self.entry.tries.left(host):
            return PlainTextResponse(TOO_MANY_TRIES, status_code=429)
        others = [(name, value) for name, value in request.query_params.multi_items() if name != KEY]
        answer = RedirectResponse(own_address(request, urlencode(others)), status_code=303)
        answer.headers["cache-control"] = "no-store"
        if known:
            for line in (cookie(request, COOKIE, quote(key, safe="")), self.entry.cookie(request)):
                answer.headers.append("set-cookie", line)
        else:
            self.entry.tries.count(host)
        return answer


class NoOtherSites:
    """Stands where Gradio's own middleware lets every site read answers, with the visitor's cookies, if the server is not
    called localhost. That one is outside of all that an app can add. A page of the server needs no such permission.
    """

    def __init__(self, app: ASGIApp, **options: object) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand everything on."""
        await self.app(scope, receive, send)


def install() -> None:
    """Have Gradio's server use it."""
    assert hasattr(gradio.routes, "CustomCORSMiddleware"), "look at how this Gradio lets other sites read answers"
    gradio.routes.CustomCORSMiddleware = NoOtherSites


def _own_origin(request: Request) -> bool:
    """Return whether a question comes from a page of this server, or from no page at all."""
    origin = request.headers.get("origin")
    # Behind a proxy that changes the Host, the browser's own word counts.
    if origin is None or request.headers.get("sec-fetch-site") == "same-origin":
        return True
    hosts = {request.headers.get(name, "").casefold() for name in ("host", "x-forwarded-host")}
    return urlsplit(origin).netloc.casefold() in hosts - {""}


def _name_of(host: str) -> str:
    """Return a host's name without the port."""
    return (urlsplit(f"//{host}").hostname or "").casefold()


def lecturers_key(cookies: dict[str, str]) -> str:
    """Return the key that a browser was given when it came by the lecturer's link, or ""."""
    return unquote(cookies.get(COOKIE, ""))
