"""How training shares the machine: with questions, with other runs step by step, and with the process's end.

Training runs at a niceness (explorer.runs.manager), so that a question is answered almost as fast beside it. That alone
starves it. Python runs one thread at a time; one that is nice wakes too late to take the interpreter when another leaves it
for an operation of torch, again at each of a step's thousand operations. On two cores, with questions of 2 ms back to back
from two visitors, a small run made 3.5 of its 128 steps a second.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

OWED_A_SECOND = 0.5
"""Seconds owed to training for each second in which questions and training run side by side: not a whole one, since
training also moves on.
"""

HEAVY_PATIENCE = 0.05
"""Seconds owed from which heavy work doesn't begin until all is paid."""

PATIENCE = 2.0
"""Seconds owed from which short questions wait as well, until it is PAYMENT less."""

MOST_OWED = PATIENCE + 0.2

PAYMENT = 0.05
"""Seconds that a short question waits before it looks again."""

MOST_SAVED = 1.0
"""Seconds of credit at most that training gathers without a question, and spends on a class that presses all at once."""


class Share:
    """Accounts for the machine's time: while something trains, questions run until they owe it time, then let it have
    that time.

    Seconds in which questions and training run side by side are owed in part; seconds in which training has the machine
    pay them back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last = clock, clock()
        self._training = self._asking = 0
        self._owed = 0.0
        self._heavy_wait = self._all_wait = False
        self._changed = threading.Condition()

    def _count(self) -> None:
        """Bring what is owed up to date. The caller holds the lock."""
        now = self._clock()
        passed, self._last = now - self._last, now
        if self._training:
            owed = self._owed + (OWED_A_SECOND * passed if self._asking else -passed)
            self._owed = min(MOST_OWED, max(-MOST_SAVED, owed))
            # Each flag goes on at one level and off at a lower one, so that it does not flicker at the limit.
            self._heavy_wait = self._owed >= HEAVY_PATIENCE or (self._heavy_wait and self._owed > 0)
            self._all_wait = self._owed >= PATIENCE or (self._all_wait and self._owed > PATIENCE - PAYMENT)
        else:
            self._owed, self._heavy_wait, self._all_wait = 0.0, False, False

    @contextmanager
    def training(self) -> Iterator[None]:
        """Count something as training while the context is open."""
        with self._changed:
            self._count()
            self._training += 1
        try:
            yield
        finally:
            with self._changed:
                self._count()
                self._training -= 1
                self._changed.notify_all()

    def hold(self) -> float:
        """Return for how many seconds heavy work should not begin; 0 if nothing is owed, or nothing trains."""
        with self._changed:
            self._count()
            return max(PAYMENT, self._owed) if self._heavy_wait else 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count a piece of a question's work while the context is open; first wait as long as questions owe training
        much time.
        """
        with self._changed:
            self._count()
            while self._all_wait:
                self._changed.wait(PAYMENT)
                self._count()
            self._asking += 1
        try:
            yield
        finally:
            with self._changed:
                self._count()
                self._asking -= 1


SHARE = Share()
"""This process's account."""


# Runs that train at the same time take turns, step by step: as fast as all at once, and only one needs room to compute.

M_ARENA_MAX = -8
"""The number by which glibc's mallopt knows the limit on heaps (arenas)."""


class Turns:
    """A lock that is handed to whoever has waited longest. Python's own is often taken again by the thread that leaves it."""

    def __init__(self) -> None:
        self._waiting: deque[threading.Event] = deque()
        self._taken = False
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Wait for this thread's turn."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return
            called = threading.Event()
            self._waiting.append(called)
        called.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Hand the turn to the thread that has waited longest."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()  # _taken stays True: the lock passes on without being free in between
            else:
                self._taken = False


def share_freed_memory() -> None:
    """Let all threads allocate from one heap, on systems with glibc; to be called before there are many threads."""
    with suppress(OSError, AttributeError, TypeError):
        # glibc gives each thread a heap of its own otherwise, and keeps there what is freed: eight runs would hold
        # eight runs' activations, though only one computes.
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


# The end of the process: what trains writes a last checkpoint first, and goes on from there when the process is back.


class Leaving:
    """Knows whether this process is about to end, and which runs it waits for."""

    def __init__(self) -> None:
        self._asked = False
        self._training = 0
        self._changed = threading.Condition()

    @contextmanager
    def waits_for(self) -> Iterator[None]:
        """Count a run that has steps to lose while the context is open."""
        with self._changed:
            self._training += 1
        try:
            yield
        finally:
            with self._changed:
                self._training -= 1
                self._changed.notify_all()

    def begin(self, seconds: float) -> bool:
        """Ask for the last checkpoints. Returns whether all were written within `seconds`."""
        with self._changed:
            self._asked = True
            return self._changed.wait_for(lambda: not self._training, seconds)

    def keep(self, write: Callable[[], None]) -> None:
        """Called between two steps: if the process is about to end, write a checkpoint and train no more."""
        if self._asked:
            write()
            with self._changed:
                self._training -= 1
                self._changed.notify_all()
            # Sleeps for ever: returning or raising would end the run, which is to go on when the process is back.
            threading.Event().wait()


LEAVING = Leaving()
"""This process's."""
