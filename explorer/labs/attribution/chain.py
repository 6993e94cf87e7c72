"""One piece of work after another through an executor, without a thread that waits for them.

A plan is a generator: it yields a Request and is sent its answer, or yields a result to be shown. Each answer starts the
next request from the worker that gave it, so that one visitor has one piece under way at a time and others get their turn
between two.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Request:
    """A job of this lab by its name, and its parameters."""

    job: str
    params: Any


Plan = Generator[Any, Any, None]
Submit = Callable[[Request], "Future[Any]"]


class Chain:
    """A plan that is being carried out."""

    def __init__(self, plan: Plan, submit: Submit) -> None:
        self._plan, self._submit = plan, submit
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self.latest: Any = None
        self.error: BaseException | None = None
        self.ended = False

    def start(self) -> None:
        """Begin. What the executor knows already is taken up at once."""
        self._go_on(None)

    def stop(self) -> None:
        """Submit nothing more; what is under way is finished by its worker and dropped."""
        self._stopped.set()

    def _go_on(self, answered: Future[Any] | None) -> None:
        with self._lock:
            try:
                under_way = self._until_waiting(answered)
            except StopIteration:
                under_way = None
                self.ended = True
            except Exception as error:
                under_way = None
                self.error, self.ended = error, True
        if under_way is not None:
            under_way.add_done_callback(self._go_on)

    def _until_waiting(self, answered: Future[Any] | None) -> Future[Any] | None:
        """Go through the plan until an answer has to be waited for; None where it has been stopped."""
        while not self._stopped.is_set():
            step = self._plan.send(None if answered is None else answered.result())
            answered = None
            while not isinstance(step, Request):
                self.latest = step
                step = next(self._plan)
            future = self._submit(step)
            if not future.done():
                return future
            answered = future
        return None


def follow_chain(plan: Plan, submit: Submit) -> Iterator[Any]:
    """Carry out a plan: what it shows, whenever that is new, else None; ends with it, and stops it when closed."""
    chain = Chain(plan, submit)
    shown: Any = None
    try:
        chain.start()
        while not chain.ended:
            latest = chain.latest
            yield latest if latest is not shown else None
            shown = latest
        if chain.error is not None:
            raise chain.error
        yield chain.latest
    finally:
        chain.stop()
