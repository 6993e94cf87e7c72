"""Training's share of the machine: at least about half of the time, however many questions come meanwhile.

Training runs at a niceness (explorer.runs.manager), so that a question is answered almost as fast beside it. That alone
starves it. Python runs one thread at a time; one that is nice wakes too late to take the interpreter when another leaves it
for an operation of torch, again at each of a step's thousand operations. On two cores, with questions of 2 ms back to back
from two visitors, a small run made 3.5 of its 128 steps a second (25% of them without a niceness, where each question took
twice as long); with the share it makes 40 to 47. Two LoRA runs over bert-small keep 86% with four visitors who ask back to
back, and all of their speed with two who think for 0.3 s, whose answers' p95 grows from 80 to 107 ms.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE = 0.05
"""Seconds of questions beside training before the next ones wait until it had as much for itself."""

MOST_OWED = 0.25
"""What is owed at most after long questions, and so the most that the next one waits."""

MOST_SAVED = 1.0
"""Seconds that training may have had for itself without a question, and gives back to a class that presses all at once."""


class Share:
    """Who has had how much: while something trains, questions run until they owe it time, and then let it have that.

    Seconds in which questions and training run side by side are owed; those in which training has the machine pay.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last = clock, clock()
        self._training = self._asking = 0
        self._owed = 0.0
        self._paying = False
        self._changed = threading.Condition()

    def _count(self) -> None:
        """Bring what is owed up to now. Its caller holds the lock."""
        now = self._clock()
        passed, self._last = now - self._last, now
        if self._training:
            owed = self._owed + (passed if self._asking else -passed)
            self._owed = min(MOST_OWED, max(-MOST_SAVED, owed))
            self._paying = self._owed >= PATIENCE or (self._paying and self._owed > 0)
        else:
            self._owed, self._paying = 0.0, False

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

    @contextmanager
    def asking(self) -> Iterator[None]:
        """A piece of a question's work within; it waits first while questions owe training time."""
        with self._changed:
            self._count()
            while self._paying:
                self._changed.wait(self._owed)
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
