"""Gives memory that was freed, but that glibc has kept, back to the system now and then.

glibc keeps whatever lies below the last block in use of each thread's arena: after a thousand odd questions 400 of
2,200 MB, by mallinfo2 (`benchmarks/fuzz_memory.py` asks them).
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from functools import cache

PAUSE = 20.0
"""Seconds between two trims; one takes some hundredths of a second and stops no Python thread."""


class Trimmer:
    """Calls `trim` at most once in PAUSE seconds, in the first thread that comes after that time."""

    def __init__(self, trim: Callable[[], object], clock: Callable[[], float] = time.monotonic) -> None:
        self._trim, self._clock = trim, clock
        self._last = clock()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Trim if PAUSE seconds have gone by since the last time."""
        with self._lock:
            now = self._clock()
            if now - self._last < PAUSE:
                return
            self._last = now
        self._trim()  # without the lock: the others need not wait for it


@cache
def trimmer() -> Trimmer:
    """Return this process's trimmer; it does nothing if the C library is not glibc."""
    try:
        malloc_trim = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # macOS and musl have none; Windows opens no library without a name
        return Trimmer(lambda: None)
    return Trimmer(lambda: malloc_trim(0))
