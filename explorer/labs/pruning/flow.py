"""Small jobs one after the other, or a few at once, without ever waiting: None where nothing is new."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from typing import Any

from explorer.backend.executor import Executor, Job
from explorer.labs.pruning.params import Asking

_JOBS = "explorer.labs.pruning.jobs"
AT_ONCE = 2


def where(params: Asking) -> dict[str, Any]:
    """The fields that every job starts with."""
    return {name: getattr(params, name) for name in Asking.__dataclass_fields__}


def submit(executor: Executor, name: str, params: Asking) -> Future[Any]:
    """Start a job on the run that is named, else on the model."""
    if params.run:
        return executor.submit_for_runs(Job(f"{_JOBS}:{name}_of_run"), params)
    return executor.submit(Job(f"{_JOBS}:{name}"), params.model, params)


def one(executor: Executor, name: str, params: Asking) -> Generator[None, None, Any]:
    """`result = yield from one(...)`."""
    future = submit(executor, name, params)
    try:
        while not future.done():
            yield None
    finally:
        future.cancel()
    return future.result()


def several(executor: Executor, asked: Sequence[tuple[str, Asking]]) -> Iterator[list[tuple[int, Any]] | None]:
    """(place, result) of all that are done, in any order; a few are in work at once, so that others get their turn."""
    waiting = list(enumerate(asked))
    working: dict[int, Future[Any]] = {}
    try:
        while waiting or working:
            found: list[tuple[int, Any]] = []
            while True:  # what is known already is not to be looked at one by one
                while waiting and len(working) < AT_ONCE:
                    place, (name, params) = waiting.pop(0)
                    working[place] = submit(executor, name, params)
                done = [place for place, future in working.items() if future.done()]
                found += [(place, working.pop(place).result()) for place in done]
                if not done:
                    break
            yield found or None
    finally:
        for future in working.values():
            future.cancel()
