"""Spares the import of Gradio half of its time: type stubs for editors, which it makes of each component every time.

mypy needs them too. It has those of the first import that is not within this context: `make setup` joins Gradio's scripts
without it (deploy/frontend.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_stubs() -> Iterator[None]:
    """Import Gradio within this context for the first time.

    Gradio leaves out a component whose source file cannot be found; here it finds none while it is imported.
    """
    find = inspect.getfile

    def found(thing: Any) -> str:
        named = {getattr(thing, "__name__", ""), *(kind.__name__ for kind in type(thing).__mro__)}
        if named & {"BlocksEvents", "ComponentMeta"}:
            raise OSError("Nobody needs a stub of this component.")
        return find(thing)

    inspect.getfile = found  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = find
