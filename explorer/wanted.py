"""Whether anybody still waits for an answer: long work asks between two of its passes, and ends where nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class UnwantedError(BaseException):
    """Nobody waits for this work any more. No Exception, so that no job takes it for a failure of its own."""


def _by_somebody() -> bool:
    return True


_is_wanted: ContextVar[Callable[[], bool]] = ContextVar("is_wanted", default=_by_somebody)


@contextmanager
def asking(is_wanted: Callable[[], bool]) -> Iterator[None]:
    """Have `go_on` ask this, in this thread, until the context ends."""
    before = _is_wanted.set(is_wanted)
    try:
        yield
    finally:
        _is_wanted.reset(before)


def go_on() -> None:
    """Return if somebody waits for what this thread computes, or if nobody can say. Raises UnwantedError."""
    if not _is_wanted.get()():
        raise UnwantedError
