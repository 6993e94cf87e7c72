"""Python's search for garbage, which stops all threads: over what the app imports it takes half a second, each time.

What stands when the app is built, and when torch and a first model's code have been imported, stays to the end, so the search
leaves it out from then on. Without that a class waited half a second now and then, and the first page came after 5.0 s and not
3.6 s.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def no_search() -> Iterator[None]:
    """Nothing is searched within; what stands at the end is never searched again."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@cache
def leave_imports_out() -> None:
    """What stands now is never searched again, once in a process: called when all is imported and no model is loaded yet, since
    what is let go later must be found."""
    gc.freeze()
