"""The end of the process: what trains writes a last checkpoint first, and goes on from there when the process is back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Leaving:
    """Whether this process is about to end, and whom it waits for."""

    def __init__(self) -> None:
        self._asked = False
        self._training = 0
        self._changed = threading.Condition()

    @contextmanager
    def waits_for(self) -> Iterator[None]:
        """Something trains within, and has steps to lose."""
        with self._changed:
            self._training += 1
        try:
            yield
        finally:
            with self._changed:
                self._training -= 1
                self._changed.notify_all()

    def begin(self, seconds: float) -> bool:
        """Ask for the last checkpoints; whether all were written within so many seconds."""
        with self._changed:
            self._asked = True
            return self._changed.wait_for(lambda: not self._training, seconds)

    def keep(self, write: Callable[[], None]) -> None:
        """Between two steps: where the process is about to end, write a checkpoint and train no more.

        The thread then stays where it is. Whatever it did would end its run, which is to go on when the process is back.
        """
        if self._asked:
            write()
            with self._changed:
                self._training -= 1
                self._changed.notify_all()
            threading.Event().wait()


LEAVING = Leaving()
"""This process's."""
