"""What this process does about its memory besides Python's own: the garbage collector is kept from long-lived objects, and memory
that was freed goes back to the system.

Over what the app imports the cyclic garbage collector takes half a second each time, and it stops all threads. Objects that
exist when the app is built, and when torch and a first model's code have been imported, stay to the end, so the collector leaves
them out from then on. Without that a class waited half a second now and then, and the first page came after 5.0 s and not 3.6 s.

glibc keeps whatever lies below the last block in use of each thread's arena: after a thousand odd questions 400 of
2,200 MB, by mallinfo2 (`benchmarks/fuzz_memory.py` asks them). A Trimmer gives it back now and then.
"""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def no_search() -> Iterator[None]:
    """Switch the collector off while the context is open; the objects that exist at its end are never searched again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # all that exists moves into a generation that the collector ignores
        gc.enable()


@cache
def leave_imports_out() -> None:
    """Call gc.freeze() once in a process, after all imports and before a model is loaded: a model that is unloaded
    later must be collected.
    """
    gc.freeze()


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
