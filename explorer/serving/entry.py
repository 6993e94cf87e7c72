"""Who is let in: the class's password, the cookie that a browser keeps instead of it, and how often one may try."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from urllib.parse import quote

from starlette.requests import HTTPConnection, Request

from explorer.serving.rates import CHECKS_A_SECOND, MOST_CHECKS, Rate, Tries
from explorer.settings import settings

COOKIE = "bert-explorer-class"
HEADER = "x-class-password"
"""For scripts, beside `authorization: Bearer …`, which on a private Space belongs to the hub."""


def same(given: str, right: str) -> bool:
    """Whether two secrets are the same, in a time that does not tell how much of them is."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True)
class Entry:
    """One server's. password: the class's, or none where everybody may come in. token: what a browser keeps; of this start
    of the server. tries: wrong passwords and lecturer's keys, together. checks: how many passwords are looked at."""

    password: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    tries: Tries = field(default_factory=Tries)
    checks: Rate = field(default_factory=lambda: Rate(MOST_CHECKS, MOST_CHECKS / CHECKS_A_SECOND))

    def is_in(self, request: HTTPConnection) -> bool:
        """Whether the browser was let in before."""
        return not self.password or same(request.cookies.get(COOKIE, ""), self.token)

    def is_password(self, given: str) -> bool:
        """Whether this is the class's."""
        return same(given.strip(), self.password)

    def cookie(self, request: Request) -> str:
        """The line that lets a browser in."""
        return cookie(request, COOKIE, self.token)


def header_password(request: HTTPConnection) -> str:
    """What a script gives, or nothing."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return request.headers.get(HEADER, "") or (bearer if scheme.lower() == "bearer" else "")


def own_address(request: Request, query: str) -> str:
    """The address of a page, relative, so that it works behind any path prefix and leads to no other server."""
    page = quote(request.scope["path"].rsplit("/", 1)[-1])
    return f"./{page}?{query}" if query else f"./{page}"


def cookie(request: Request, name: str, value: str) -> str:
    """The line that sets a cookie for this browser session, over https alone where that is spoken.

    Other sites' pages send none along, but for a Space: Hugging Face shows it in a frame, which has cookies of its own.
    """
    if request.headers.get("x-forwarded-proto", request.url.scheme) != "https":
        sent = "SameSite=Lax"
    elif settings().in_space:
        sent = "SameSite=None; Secure; Partitioned"
    else:
        sent = "SameSite=Lax; Secure"
    return f"{name}={value}; Path=/; HttpOnly; {sent}"
