"""Answers kept for visitors who ask the same question: their number and their size together are limited by the settings."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import cast

from explorer.engine.computation import Computation, Subscription
from explorer.lru_cache import size_of


class Answers:
    """Computations by their question; the ones asked for longest ago are dropped first."""

    def __init__(self, most: int, most_bytes: int) -> None:
        """most: the largest number of questions under way or answered. most_bytes: the largest size of all answers
        together, by size_of.
        """
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[Hashable, Computation] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def follow(
        self, key: Hashable, make: Callable[[], Computation], start: Callable[[Computation], None]
    ) -> Subscription:
        """Join a question if it is under way or answered; else make its computation, and start it once it is watched."""
        with self._lock:
            shared = self._kept.get(key)
            # None also for a computation that everybody has left: it is about to end, and another takes its place.
            following = shared.watch() if shared else None
            if following is None:
                self._sizes.pop(key, None)
                shared = self._kept[key] = make()
                following = cast(Subscription, shared.watch())
                start(shared)
            self._kept.move_to_end(key)
            self._trim()
        return following

    def ended(self, key: Hashable, computation: Computation, is_kept: bool) -> None:
        """Weigh a computation's answer, or forget the computation if the answer is not kept."""
        size = size_of(computation.state()[1]) if is_kept else 0  # outside the lock, since a large answer takes a while
        with self._lock:
            if self._kept.get(key) is not computation:  # dropped already, or replaced by a newer one
                return
            if is_kept:
                self._sizes[key] = size
                self._trim()
            else:
                del self._kept[key]

    def _trim(self) -> None:
        """Drop the oldest until both limits hold. The caller holds the lock."""
        # A number alone bounds no memory: an attention matrix of 512 tokens is two thousand times as large as a
        # guessed word.
        while len(self._kept) > self._most or sum(self._sizes.values()) > self._most_bytes:
            key, _ = self._kept.popitem(last=False)
            self._sizes.pop(key, None)
