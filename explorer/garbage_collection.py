"""Keeps Python's cyclic garbage collector from the app's long-lived objects: over what the app imports it takes half a
second each time, and it stops all threads.

Objects that exist when the app is built, and when torch and a first model's code have been imported, stay to the end,
so the collector leaves them out from then on. Without that a class waited half a second now and then, and the first
page came after 5.0 s and not 3.6 s.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
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
