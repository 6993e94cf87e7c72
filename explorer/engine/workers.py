"""The threads that work: short turns go before long ones, and questions that are alike are taken together."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

LONG_SECONDS = 0.5
"""A turn that is expected to take so long leaves one worker to the others."""

PATIENCE = 4.0
"""A turn goes before whatever comes later than so many times its own length: a long one gives way, for so long and no longer."""

MOST_TOGETHER = 16

MOST_KINDS = 1000
"""Kinds of turns whose length is remembered."""


@dataclass(eq=False)
class Turn:
    """Something to do. kind: turns of one kind take about as long. together: does several that are `alike` as one, if given.

    about: what `together` is handed for each. asked, expected, due: when it was submitted, how many seconds it should take, and
    when it should begin; all three are set by the workers.
    """

    work: Callable[[], None]
    kind: Hashable
    alike: Hashable = None
    together: Callable[[list[Any]], None] | None = None
    about: Any = None
    asked: float = 0.0
    expected: float = 0.0
    due: float = 0.0


@dataclass(frozen=True)
class Line:
    """What waits for a worker: how many turns, and in how many seconds they should be done."""

    questions: int
    seconds: float


class Workers:
    """So many threads and the turns that wait for them.

    A kind is expected to take the shorter of its last two times: the first one loads the model, and says nothing.
    """

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="job")
        self._count = count
        self._most_long = max(1, count - 1)
        self._long = 0
        self._waiting: list[Turn] = []
        self._took: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def submit(self, turn: Turn) -> None:
        """Queue a turn. What it raises is lost."""
        with self._lock:
            turn.expected = min(self._took.get(turn.kind, (0.0,)))
            turn.asked = time.monotonic()
            turn.due = turn.asked + PATIENCE * turn.expected
            self._waiting.append(turn)
        self._threads.submit(self._one)

    def line(self, ago: float) -> Line:
        """What waits since `ago` seconds or longer: it stands before a question that was asked then."""
        with self._lock:
            before = [turn.expected for turn in self._waiting if turn.asked < time.monotonic() - ago]
        return Line(len(before), sum(before) / self._count)

    def _take(self) -> list[Turn]:
        """The turn that is due first, with those that can be done with it; none where only long ones wait for a place."""
        with self._lock:
            free = self._long < self._most_long
            ready = sorted((turn for turn in self._waiting if free or not _is_long(turn)), key=lambda turn: turn.due)
            taken = ready[:1]
            if taken and taken[0].together is not None:
                alike = [turn for turn in ready[1:] if turn.alike == taken[0].alike and not _is_long(turn)]
                taken += alike[: MOST_TOGETHER - 1]
            self._waiting = [turn for turn in self._waiting if turn not in taken]
            self._long += any(map(_is_long, taken))
        return taken

    def _one(self) -> None:
        taken = self._take()
        if not taken:
            return
        began = time.monotonic()
        try:
            if taken[0].together is not None and len(taken) > 1:
                taken[0].together([turn.about for turn in taken])
            else:
                taken[0].work()
        finally:
            self._end(taken, (time.monotonic() - began) / len(taken))

    def _end(self, taken: list[Turn], seconds: float) -> None:
        with self._lock:
            for turn in taken:
                self._took[turn.kind] = (seconds, self._took.get(turn.kind, (seconds,))[0])
                self._took.move_to_end(turn.kind)
            while len(self._took) > MOST_KINDS:
                self._took.popitem(last=False)
            was_long = any(map(_is_long, taken))
            self._long -= was_long
        if was_long:  # one that found no place looks again
            self._threads.submit(self._one)


def _is_long(turn: Turn) -> bool:
    return turn.expected >= LONG_SECONDS
