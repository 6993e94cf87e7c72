"""The class's password: while one is set, whoever has not given it gets no page, no answer and no file.

Who is let in is decided by the password, by the cookie that a browser keeps instead of it, and by how often one may try.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote

from markupsafe import Markup
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from explorer.serving.policy import bare_policy, digest
from explorer.serving.rates import CHECKS_A_SECOND, MOST_CHECKS, TOO_MANY_TRIES, Rate, Tries, host_of
from explorer.settings import SPACES, settings

COOKIE = "bert-explorer-class"
HEADER = "x-class-password"
"""The header for scripts, besides `authorization: Bearer …`, which belongs to the hub on a private Space."""


def same(given: str, right: str) -> bool:
    """Return whether two secrets are equal, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class Entry:
    """The entry of one server. password: the class's, empty if everybody may come in. token: what a browser keeps, new
    with each start of the server. tries: wrong passwords and lecturer's keys, together. checks: how many passwords are
    checked.
    """

    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    tries: Tries = field(default_factory=Tries)
    checks: Rate = field(default_factory=lambda: Rate(MOST_CHECKS, MOST_CHECKS / CHECKS_A_SECOND))

    def is_in(self, request: HTTPConnection) -> bool:
        """Return whether the browser was let in before."""
        return not self.password or same(request.cookies.get(COOKIE, ""), self.token)

    def is_password(self, given: str) -> bool:
        """Return whether this is the class's password."""
        return same(given.strip(), self.password)

    def cookie(self, request: Request) -> str:
        """Return the set-cookie line that lets a browser in."""
        return cookie(request, COOKIE, self.token)


def header_password(request: HTTPConnection) -> str:
    """Return the password that a script gives in a header, or ""."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return request.headers.get(HEADER, "") or (bearer if scheme.lower() == "bearer" else "")


def own_address(request: Request, query: str) -> str:
    """Return the address of a page, relative, so that it works behind any path prefix and leads to no other server."""
    page = quote(request.scope["path"].rsplit("/", 1)[-1])
    return f"./{page}?{query}" if query else f"./{page}"


def cookie(request: Request, name: str, value: str) -> str:
    """Return the line that sets a cookie for this browser session, over https alone if that is spoken."""
    if request.headers.get("x-forwarded-proto", request.url.scheme) != "https":
        sent = "SameSite=Lax"
    elif settings().in_space:
        # Other sites' pages send no cookie along, except for a Space: Hugging Face shows it in a frame, whose cookies
        # are its own.
        sent = "SameSite=None; Secure; Partitioned"
    else:
        sent = "SameSite=Lax; Secure"
    return f"{name}={value}; Path=/; HttpOnly; {sent}"


LONGEST_FORM = 4096
"""Bytes of the form that a browser sends back."""

OPEN = "/gradio_api/startup-events"
"""Gradio's own call to the server that it starts, which tells nothing but whether it was the first."""

ASKED = "bert-explorer-asked"
"""A cookie that comes with the form; the form's answer shows by it whether the browser keeps cookies."""

WRONG = "This is not the class's password. Ask your lecturer for it, and mind capital letters."
NEEDED = (
    f"This server answers those who know the class's password. A browser is asked for it on any page; a script sends it in the "
    f"header {HEADER}, or as authorization: Bearer."
)

NOT_KEPT = Markup(
    "The password is right, but this browser keeps no cookies here, as in a frame of another site. "
    '<a href="{}" target="_blank" rel="noopener">Open this page in a tab of its own</a>.'
)

_STYLE = """
:root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; }
main { width: min(22rem, 90vw); }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; }
p { margin: 0 0 1rem; }
label { display: block; font-weight: 600; }
input, button { font: inherit; box-sizing: border-box; width: 100%; padding: .5rem .7rem; margin-top: .4rem; border-radius: 6px; }
input { border: 1px solid #767676; }
button { border: 0; background: #005586; color: #fff; cursor: pointer; }
:focus-visible { outline: 3px solid #3f9acd; outline-offset: 2px; }
#wrong { border-left: 4px solid #d55e00; padding-left: .7rem; margin: .8rem 0 .2rem; }
"""

_PAGE = Markup(
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>BERT Explorer: the class\'s password</title>'
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">'
    "<style>{style}</style></head><body><main><h1>BERT Explorer</h1><p>This server is for a class.</p>"
    '<form method="post"><label for="password">Password of the class</label>'
    '<input id="password" name="password" type="password" required autofocus autocomplete="current-password"{described}>'
    '{wrong}<button type="submit">Come in</button></form></main></body></html>'
)


class ClassDoor:
    """ASGI middleware; it lets everybody in if the entry has no password. sites: the sites that may show the app in a frame."""

    def __init__(self, app: ASGIApp, entry: Entry, sites: str = SPACES) -> None:
        self.app, self.entry = app, entry
        self.policy = bare_policy(sites, digest(_STYLE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on requests of those who are let in, and answer all others."""
        if not self.entry.password or scope["type"] == "lifespan" or scope["path"] == OPEN:
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a websocket, of which this app has none
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope)
        if _is_form(request):
            await (await self._entered(request, receive))(scope, receive, send)
        elif self.entry.is_in(request):
            await self.app(scope, receive, send)
        else:
            await (self._refusal(request) or self.app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        """Return the answer to somebody who was not let in before; None with the right password in a header."""
        given = header_password(request)
        if not given:
            return self._asks(request)
        return self._wrong(request, given)

    def _wrong(self, request: Request, given: str) -> Response | None:
        """Return the answer to a wrong password; None for the right one, however many wrong ones came from the same network."""
        host = host_of(request)
        if not self.entry.checks.take(host):  # checked first, so that guessing costs no comparison beyond the rate
            return self._asks(request, TOO_MANY_TRIES, 429)
        if self.entry.is_password(given):
            return None
        if not self.entry.tries.left(host):
            return self._asks(request, TOO_MANY_TRIES, 429)
        self.entry.tries.count(host)
        return self._asks(request, WRONG)

    async def _entered(self, request: Request, receive: Receive) -> Response:
        given = await _password(receive)  # before the count: many could be held back and sent at once
        refused = self._wrong(request, given)
        if refused is not None:
            return refused
        address = own_address(request, request.scope["query_string"].decode("latin-1"))
        if ASKED not in request.cookies:  # who is sent on would be asked again, and not know why
            return self._asks(request, NOT_KEPT.format(address), 403)
        answer = RedirectResponse(address, status_code=303)
        answer.headers["cache-control"] = "no-store"
        answer.headers["set-cookie"] = self.entry.cookie(request)
        return answer

    def _asks(self, request: Request, wrong: str = "", status: int = 401) -> Response:
        """Return the form for browsers, and a sentence for everybody else."""
        headers = {"cache-control": "no-store"}
        if "text/html" not in request.headers.get("accept", ""):  # a script, or a page's own request
            said = Markup(wrong or NEEDED).striptags()
            return JSONResponse({"detail": said, "error": said}, status, headers)
        described = Markup(' aria-invalid="true" aria-describedby="wrong"') if wrong else Markup("")
        told = Markup('<p id="wrong" role="alert">{}</p>').format(wrong) if wrong else Markup("")
        page = _PAGE.format(style=Markup(_STYLE), described=described, wrong=told)
        headers |= {"content-security-policy": self.policy, "set-cookie": cookie(request, ASKED, "1")}
        return HTMLResponse(page, status, headers)


def _is_form(request: HTTPConnection) -> bool:
    """Return whether a request is the form; Gradio's own endpoints take JSON and files."""
    kind = request.headers.get("content-type", "")
    return request.scope["method"] == "POST" and kind.startswith("application/x-www-form-urlencoded")


async def _password(receive: Receive) -> str:
    body, more = b"", True
    while more and len(body) <= LONGEST_FORM:
        message: Message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return parse_qs(body[:LONGEST_FORM].decode("utf-8", "replace")).get("password", [""])[0]
