"""The worker threads: short turns go before long ones, and turns with equal keys are batched."""

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
"""Seconds, in one turn or in several, from which work is heavy and gives way to short turns: one worker is always kept
free of it.
"""

PATIENCE = 4.0
"""Work waits at most this many times its own length before it goes first; after a heavy turn the short ones have the
workers to themselves for this many times its length.

Both are divided by the number of heavy turns that wait, down to LEAST_PATIENCE: one alone has a fifth of a worker, four
have half of it, so that their queue does not grow without end.
"""

LEAST_PATIENCE = 1.0
"""However many heavy turns wait, the short ones have the workers to themselves for as long as the last heavy one took."""

MOST_TOGETHER = 32

TIMES = 4
"""How many of a kind's last times are remembered to judge how long its next turn takes."""

MOST_KINDS = 1000
"""How many kinds of turns have their times remembered."""


@dataclass(eq=False)
class Turn:
    """A piece of work in the queue. kind: turns of one kind take about as long. together: computes several turns with
    equal `alike` as one batch, if given.

    about: what `together` receives for this turn. since: when the work that the turn belongs to was begun, if not now.
    spent: the seconds that it has taken so far. asked, expected: when the turn was submitted and how many seconds it
    should take, both set by Workers.
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
        """When the turn should have begun, in seconds of time.monotonic: later if it was asked late or has taken long
        already.
        """
        return (self.asked if self.since is None else self.since) + PATIENCE * (self.spent + self.expected)

    @property
    def is_heavy(self) -> bool:
        """Whether the turn gives way to short turns: what goes on after a first answer does."""
        return self.since is not None or self.is_long

    @property
    def is_long(self) -> bool:
        """Whether one worker is kept free of the turn."""
        return self.spent + self.expected >= HEAVY_SECONDS


@dataclass(frozen=True)
class Line:
    """The queue before a question: how many turns wait, and in how many seconds they should be done."""

    questions: int
    seconds: float


class Workers:
    """A fixed number of threads and the turns that wait for them."""

    def __init__(self, count: int, share: Share = SHARE) -> None:
        """share: how much of the machine's time training has."""
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="job")
        self._count, self._share = count, share
        self._most_long = max(1, count - 1)
        self._long = 0
        self._computed: set[Hashable] = set()
        self._waiting: list[Turn] = []
        self._took: OrderedDict[Hashable, deque[float]] = OrderedDict()
        self._heavy_ended, self._heavy_took = 0.0, 0.0
        self._changed = threading.Condition()

    def submit(self, turn: Turn) -> None:
        """Queue a turn. An exception that it raises is lost."""
        with self._changed:
            times = self._took.get(turn.kind, ())
            # The shortest of the last times: the others may have met with a busy machine. One time alone says
            # nothing, since the first turn of a kind loads the model.
            turn.expected = min(times) if len(times) > 1 else 0.0
            turn.asked = time.monotonic()
            self._waiting.append(turn)
            self._changed.notify()
        self._threads.submit(self._one)

    def line(self, ago: float) -> Line:
        """Count the turns that were submitted `ago` seconds ago or earlier: they stand before a question that was asked
        then.
        """
        with self._changed:
            before = [turn.expected for turn in self._waiting if turn.asked < time.monotonic() - ago]
        return Line(len(before), sum(before) / self._count)

    def _take(self) -> list[Turn]:
        """Wait until a turn may begin, and return it with those that can be batched with it; an empty list if none waits."""
        with self._changed:
            while self._waiting:
                taken, seconds = self._next()
                if taken:
                    self._waiting = [turn for turn in self._waiting if turn not in taken]
                    self._long += taken[0].is_long
                    if taken[0].together is not None:
                        self._computed.add(taken[0].alike)
                    return taken
                self._changed.wait(seconds)
        return []

    def _next(self) -> tuple[list[Turn], float | None]:
        """Return the turns that may begin now; if none may, the seconds until one may unless something changes before."""
        now = time.monotonic()
        # Whoever asks what is being computed for others waits, and is in the next batch: two batches side by side would
        # read the same weights twice.
        short = [turn for turn in self._waiting if not turn.is_heavy and turn.alike not in self._computed]
        has_place = self._long < self._most_long
        heavy = [turn for turn in self._waiting if turn.is_heavy and (has_place or not turn.is_long)]
        first = min(heavy, key=_due, default=None)
        seconds = None
        if first is not None:
            patience = max(LEAST_PATIENCE, PATIENCE / len(heavy))  # the more of them wait, the sooner each goes
            ready = max(self._heavy_ended + patience * self._heavy_took, first.asked + patience * first.expected)
            patient = ready - now
            # A heavy turn begins once its patience is over, or as soon as neither short turns nor training come
            # before it.
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
            self._long -= taken[0].is_long
            if taken[0].together is not None:
                self._computed.discard(taken[0].alike)
            self._changed.notify_all()


def _due(turn: Turn) -> float:
    return turn.due
