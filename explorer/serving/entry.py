"""Decides who is let in: the class's password, the cookie that a browser keeps instead of it, and how often one may try."""

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
