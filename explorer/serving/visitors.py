"""Tells who asks: the name that runs belong to, and the party with which it shares its turn in the queue."""

from __future__ import annotations

import hashlib
import hmac
import math
import secrets
import time
from collections import OrderedDict

import gradio as gr

from explorer import SCRIPT_OWNER
from explorer.errors import BadInputError
from explorer.runs.examples import OWNER
from explorer.runs.manager import LECTURER
from explorer.runs.protocol import Runs
from explorer.runs.queue import Visitor

LECTURER_PREFIX = "lecturer:"
HUB_PREFIX = "huggingface:"
"""Prefix of the owner's name for visitors who have signed in with their account of the hub, as those of a Space may."""

LONGEST_NAME = 200
MOST_NAMES = 500
"""Signed names that one address is given: more than a school behind one address has browsers, and fewer than a script
can invent.
"""

MOST_ADDRESSES = 5000
_MARK = "."


class Names:
    """Gives browsers the names by which they find their runs again, signed for as long as the server runs.

    A signed name has a turn of its own. Anybody can invent others; those of one address share a turn.
    """

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._given: OrderedDict[str, int] = OrderedDict()

    def give(self, remembered: str, address: str) -> str:
        """Return a browser's name, with this server's signature: the one that it remembers, or a new one.

        It is unsigned if the address has been given too many.
        """
        name, signed = self.check(remembered)
        if signed:
            return remembered
        name = name or secrets.token_urlsafe(16)
        given = self._given[address] = self._given.pop(address, 0) + 1
        while len(self._given) > MOST_ADDRESSES:
            self._given.popitem(last=False)
        return name + _MARK + self._signature(name) if given <= MOST_NAMES else name

    def check(self, visitor: str) -> tuple[str, bool]:
        """Return a name without its signature, and whether that is this server's."""
        name, _, signature = visitor.partition(_MARK)
        return name, bool(signature) and hmac.compare_digest(signature.encode(), self._signature(name).encode())

    def _signature(self, name: str) -> str:
        return hmac.new(self._secret, name.encode(), hashlib.sha256).hexdigest()[:32]


NAMES = Names()
"""This process's."""


def address_of(request: gr.Request | None) -> str:
    """Return where a request comes from, as the server sees it: a class behind one router has one address."""
    return str(getattr(getattr(request, "client", None), "host", "") or "")


def signed_in(request: gr.Request | None) -> str:
    """Return the owner's name of a visitor who has signed in, from the session that Gradio signs; "" for all others."""
    session = getattr(getattr(request, "request", None), "scope", {}).get("session") or {}
    found = session.get("oauth_info") or {}
    name = (found.get("userinfo") or {}).get("preferred_username")
    return f"{HUB_PREFIX}{name}" if name and (found.get("expires_at") or math.inf) > time.time() else ""


def owner_of(runs: Runs, visitor: object, request: gr.Request | None) -> Visitor:
    """Return whose runs a visitor has: those of the lecturer's key, of the account that one has signed in with, of the
    browser's own secret name, or of a client's session if it gives no name.

    Raises BadInputError for what cannot be a name.
    """
    given = "" if visitor is None else visitor
    if (
        not isinstance(given, str)
        or len(given) > LONGEST_NAME
        or any("\ud800" <= letter <= "\udfff" for letter in given)  # lone surrogates, which cannot be encoded
    ):
        raise BadInputError(f"visitor must be a name of at most {LONGEST_NAME} letters, or left out.")
    given = given.strip()
    if given.startswith(LECTURER_PREFIX):
        if runs.is_lecturer(given.removeprefix(LECTURER_PREFIX)):
            return Visitor(LECTURER, LECTURER)
        given = ""  # a wrong key is no name of anybody's
    if account := signed_in(request):
        return Visitor(account, account)
    name, signed = NAMES.check(given)
    # Names that would give rights which have to be proved.
    if name in (LECTURER, OWNER, SCRIPT_OWNER) or name.startswith((LECTURER_PREFIX, HUB_PREFIX)):
        name, signed = "", False
    party = name if signed else f"address {address_of(request)}"
    return Visitor(name or f"client-{request.session_hash if request else ''}", party)
