"""Rate limits: of a visitor, and of all who come from one address. Nothing is kept but counts, and those are few."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import HTTPConnection

MOST_KEYS = 20_000
"""Names that are counted at most: they come from visitors' requests. The one that asked longest ago is forgotten first."""

MOST_TRIES = 60
"""Wrong passwords and keys of one address, of which one is forgiven every other second: enough for a class that
mistypes together.
"""

MOST_CHECKS, CHECKS_A_SECOND = 400, 20
"""Passwords of one address that are checked, however many were wrong: whoever knows the right one gets in beside somebody
who guesses, and a program that guesses gets through no more than this many a second."""

TOO_MANY_TRIES = "Too many wrong passwords came from your network. Wait a minute, then try again."


class Rate:
    """A token bucket for each name: at most `most` at once, which come back evenly within `seconds`; 0 means no limit."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._each, self._clock = most, most / seconds, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def left(self, name: str) -> float:
        """Return how many a name may have now."""
        now = self._clock()
        left, then = self._left.get(name, (self.most, now))
        return min(self.most, left + (now - then) * self._each)

    def take(self, name: str) -> bool:
        """Take one from a name's bucket. Returns whether there was one."""
        left = self.left(name)
        allowed = not self.most or left >= 1
        self._left[name] = (left - 1 if allowed else left, self._clock())
        self._left.move_to_end(name)
        while len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return allowed


class Tries:
    """Counts wrong passwords and keys, by address."""

    def __init__(self, most: int = MOST_TRIES) -> None:
        self._rate = Rate(most, 2.0 * most)

    def left(self, host: str) -> bool:
        """Return whether an address may try once more."""
        return self._rate.left(host) >= 1

    def count(self, host: str) -> None:
        """Count a wrong try."""
        self._rate.take(host)


def host_of(request: HTTPConnection) -> str:
    """Return where a request comes from, as the server sees it."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    # An IPv6 network counts as one address, since each has billions of them.
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host
