"""Training's share of the machine, however many questions come meanwhile; the heavy ones among them wait for it first.

Training runs at a niceness (explorer.runs.manager), so that a question is answered almost as fast beside it. That alone
starves it. Python runs one thread at a time; one that is nice wakes too late to take the interpreter when another leaves it
for an operation of torch, again at each of a step's thousand operations. On two cores, with questions of 2 ms back to back
from two visitors, a small run made 3.5 of its 128 steps a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OWED_A_SECOND = 0.5
"""What a second in which questions and training run side by side owes to training, which moves on in it too."""

HEAVY_PATIENCE = 0.05
"""Seconds owed, with which heavy work doesn't begin until all is paid."""

PATIENCE = 2.0
"""Seconds owed, with which short questions wait as well, until it is a little less."""

MOST_OWED = PATIENCE + 0.2

PAYMENT = 0.05
"""Seconds that a short question waits at a time."""

MOST_SAVED = 1.0
"""Seconds that training may have had for itself without a question, and gives back to a class that presses all at once."""


class Share:
    """Who has had how much: while something trains, questions run until they owe it time, and then let it have that.

    Seconds in which questions and training run side by side are owed in part; those in which training has the machine pay.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last = clock, clock()
        self._training = self._asking = 0
        self._owed = 0.0
        self._heavy_wait = self._all_wait = False
        self._changed = threading.Condition()

    def _count(self) -> None:
        """Bring what is owed up to now. Its caller holds the lock."""
        now = self._clock()
        passed, self._last = now - self._last, now
        if self._training:
            owed = self._owed + (OWED_A_SECOND * passed if self._asking else -passed)
            self._owed = min(MOST_OWED, max(-MOST_SAVED, owed))
            self._heavy_wait = self._owed >= HEAVY_PATIENCE or (self._heavy_wait and self._owed > 0)
            self._all_wait = self._owed >= PATIENCE or (self._all_wait and self._owed > PATIENCE - PAYMENT)
        else:
            self._owed, self._heavy_wait, self._all_wait = 0.0, False, False

    @contextmanager
    def training(self) -> Iterator[None]:
        """Something trains within."""
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
        """For how many seconds heavy work should not begin; 0 where nothing is owed, or nothing trains."""
        with self._changed:
            self._count()
            return max(PAYMENT, self._owed) if self._heavy_wait else 0.0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A piece of a question's work within; it waits first while questions owe training much time."""
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
"""Of this process."""
