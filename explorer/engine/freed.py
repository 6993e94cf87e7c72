"""What glibc keeps of the memory that was freed, given back to the system now and then.

It keeps whatever lies below the last block in use of each thread's arena: after a thousand odd questions 400 of 2,200 MB, by
mallinfo2 (`benchmarks/fuzz_memory.py` asks them).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import cache

PAUSE = 20.0
"""Seconds between two searches for what can be given back; one takes some hundredths of a second and stops no Python thread."""


class Trimmer:
    """Calls `trim` at most once in PAUSE seconds, in the thread that comes first after that."""

    def __init__(self, trim: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._trim, self._clock = trim, clock
        self._last = clock()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Give back what can be, if it is time to."""
        with self._lock:
            now = self._clock()
            if now - self._last < PAUSE:
                return
            self._last = now
        self._trim()


@cache
def trimmer() -> Trimmer:
    """This process's; it does nothing where the C library is not glibc."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # macOS and musl have none; Windows opens no library without a name
        return Trimmer(lambda: None)
    return Trimmer(lambda: malloc_trim(0))
