"""Runs that train at the same time take turns, step by step: as fast as all at once, and only one needs room to compute."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from contextlib import suppress
from types import TracebackType

M_ARENA_MAX = -8
"""glibc's number for mallopt's limit on heaps."""


class Turns:
    """A lock that is handed to whoever has waited longest. Python's own is often taken again by the thread that leaves it."""

    def __init__(self) -> None:
        self._waiting: deque[threading.Event] = deque()
        self._taken = False
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        """Wait for one's turn."""
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
        """Hand the turn on."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._taken = False


def share_freed_memory() -> None:
    """Let all threads allocate from one heap, on systems with glibc; to be called before there are many threads.

    It gives each a heap of its own otherwise, and keeps there what is freed: eight runs would hold eight runs' activations,
    though only one computes.
    """
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)
