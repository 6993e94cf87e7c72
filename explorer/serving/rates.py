"""How often: of a visitor, and of all who come from one address. Nothing is kept but counts, and those are few."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import HTTPConnection

MOST_KEYS = 20_000
"""Names come from visitors' requests, so how many are kept is bounded; who asked longest ago is forgotten first."""

MOST_TRIES = 60
"""Wrong passwords and keys of one address, of which one is forgiven every other second: a class that mistypes together."""

MOST_CHECKS, CHECKS_A_SECOND = 400, 20
"""Passwords of one address that are looked at, however many were wrong: who knows the right one comes in beside somebody who
guesses, and a program that guesses gets through so many a second."""

TOO_MANY_TRIES = "Too many wrong passwords came from your network. Wait a minute, then try again."


class Rate:
    """At most `most` at once by each name, which come back evenly within `seconds`; 0: as many as anybody likes."""

    def __init__(self, most: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._each, self._clock = most, most / seconds, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def left(self, name: str) -> float:
        """How many a name may have now."""
        now = self._clock()
        left, then = self._left.get(name, (self.most, now))
        return min(self.most, left + (now - then) * self._each)

    def take(self, name: str) -> bool:
        """Count one of a name's, and say whether it may have it."""
        left = self.left(name)
        allowed = not self.most or left >= 1
        self._left[name] = (left - 1 if allowed else left, self._clock())
        self._left.move_to_end(name)
        while len(self._left) > MOST_KEYS:
            self._left.popitem(last=False)
        return allowed


class Tries:
    """Wrong passwords and keys, by address."""

    def __init__(self, most: int = MOST_TRIES) -> None:
        self._rate = Rate(most, 2.0 * most)

    def left(self, host: str) -> bool:
        """Whether an address may try once more."""
        return self._rate.left(host) >= 1

    def count(self, host: str) -> None:
        """One was wrong."""
        self._rate.take(host)


def host_of(request: HTTPConnection) -> str:
    """Where a request comes from, as the server sees it; of IPv6 the network, since each has billions of addresses."""
    host = request.client.host if request.client else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host
