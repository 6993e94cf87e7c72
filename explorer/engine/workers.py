"""The threads that work: short turns go before long ones, and questions that are alike are taken together."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any

from explorer.runs.cpu_share import SHARE, Share

HEAVY_SECONDS = 0.3
"""Work that takes so long, in one turn or in several, gives way to what is short."""

LONG_SECONDS = 0.5
"""A turn that is expected to take so long leaves one worker to the others."""

PATIENCE = 4.0
"""How many times its own length work waits at most before it goes first, and how many times a heavy turn's length the short
ones then have to themselves. Both are divided by the number of heavy turns that wait: one alone has a fifth of a worker, four
have half of it, so that their line does not grow without end."""

MOST_TOGETHER = 16

TIMES = 4
"""Of a kind, by which its length is judged."""

MOST_KINDS = 1000
"""Kinds of turns whose length is remembered."""


@dataclass(eq=False)
class Turn:
    """Something to do. kind: turns of one kind take about as long. together: does several that are `alike` as one, if given.

    about: what `together` is handed for each. since, spent: when the work that it belongs to was begun, if not now, and the
    seconds that this has taken so far. asked, expected: when it was submitted and how many seconds it should take, both set by
    the workers.
    """

    work: Callable[[], None]
    kind: Hashable
    alike: Hashable = None
    together: Callable[[list[Any]], None] | None = None
    about: Any = None
    since: float | None = None
    spent: float = 0.0
    asked: float = 0.0
    expected: float = 0.0

    @property
    def due(self) -> float:
        """When it should have begun: what is asked late, or has taken long already, comes later."""
        return (self.asked if self.since is None else self.since) + PATIENCE * (self.spent + self.expected)

    @property
    def is_heavy(self) -> bool:
        """Whether it gives way to short turns."""
        return self.spent + self.expected >= HEAVY_SECONDS


@dataclass(frozen=True)
class Line:
    """What waits for a worker: how many turns, and in how many seconds they should be done."""

    questions: int
    seconds: float


class Workers:
    """So many threads and the turns that wait for them.

    A kind is expected to take the shortest of its last times: some met with a busy machine. One alone says nothing, since the
    first loads the model.
    """

    def __init__(self, count: int, share: Share = SHARE) -> None:
        """share: what training has of the machine."""
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="job")
        self._count, self._share = count, share
        self._most_long = max(1, count - 1)
        self._long = 0
        self._waiting: list[Turn] = []
        self._took: OrderedDict[Hashable, deque[float]] = OrderedDict()
        self._heavy_ended, self._heavy_took = 0.0, 0.0
        self._changed = threading.Condition()

    def submit(self, turn: Turn) -> None:
        """Queue a turn. What it raises is lost."""
        with self._changed:
            times = self._took.get(turn.kind, ())
            turn.expected = min(times) if len(times) > 1 else 0.0
            turn.asked = time.monotonic()
            self._waiting.append(turn)
            self._changed.notify()
        self._threads.submit(self._one)

    def line(self, ago: float) -> Line:
        """What waits since `ago` seconds or longer: it stands before a question that was asked then."""
        with self._changed:
            before = [turn.expected for turn in self._waiting if turn.asked < time.monotonic() - ago]
        return Line(len(before), sum(before) / self._count)

    def _take(self) -> list[Turn]:
        """Who begins next, with those that can be done with it; waits until somebody may. None where nobody waits."""
        with self._changed:
            while self._waiting:
                taken, seconds = self._next()
                if taken:
                    self._waiting = [turn for turn in self._waiting if turn not in taken]
                    self._long += any(map(_is_long, taken))
                    return taken
                self._changed.wait(seconds)
        return []

    def _next(self) -> tuple[list[Turn], float | None]:
        """Who may begin now; where nobody may, how many seconds until one may, if nothing changes before."""
        now = time.monotonic()
        short = [turn for turn in self._waiting if not turn.is_heavy]
        has_place = self._long < self._most_long
        heavy = [turn for turn in self._waiting if turn.is_heavy and (has_place or not _is_long(turn))]
        first = min(heavy, key=_due, default=None)
        seconds = None
        if first is not None:
            patience = PATIENCE / len(heavy)
            ready = max(self._heavy_ended + patience * self._heavy_took, first.asked + patience * first.expected)
            patient = ready - now
            seconds = max(0.0, min(patient, self._share.hold()))
            if patient <= 0 or (not short and seconds == 0):
                return [first], None
        if not short:
            return [], seconds
        quick = min(short, key=_due)
        if quick.together is None:
            return [quick], None
        return nsmallest(MOST_TOGETHER, (turn for turn in short if turn.alike == quick.alike), key=_due), None

    def _one(self) -> None:
        taken = self._take()
        if not taken:
            return
        with self._share.asking():
            began = time.monotonic()
            try:
                if taken[0].together is not None and len(taken) > 1:
                    taken[0].together([turn.about for turn in taken])
                else:
                    taken[0].work()
            finally:
                self._end(taken, (time.monotonic() - began) / len(taken))

    def _end(self, taken: list[Turn], seconds: float) -> None:
        with self._changed:
            for turn in taken:
                self._took.setdefault(turn.kind, deque(maxlen=TIMES)).append(seconds)
                self._took.move_to_end(turn.kind)
            while len(self._took) > MOST_KINDS:
                self._took.popitem(last=False)
            if taken[0].is_heavy:
                self._heavy_ended, self._heavy_took = time.monotonic(), seconds
            self._long -= any(map(_is_long, taken))
            self._changed.notify_all()


def _due(turn: Turn) -> float:
    return turn.due


def _is_long(turn: Turn) -> bool:
    return turn.expected >= LONG_SECONDS
