"""A computation that is shared by everybody who asks the same question, and the subscriptions through which each of
them follows it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from explorer.engine.workers import Turn, Workers
from explorer.wanted import UnwantedError, asking

AT_ONCE = 2
"""How many pieces of one computation may run at the same time; the other workers stay free for other computations."""

_OVER = object()


@dataclass(frozen=True)
class Together:
    """A job yields this to have `work` done for each of `items` side by side; it is then sent the answers, in the order
    of `items`.
    """

    work: Callable[[Any], Any]
    items: Sequence[Any]


class Computation:
    """A job under way. A function is done in one turn of the workers; a generator takes one turn for each result.

    Other computations get their turns in between, so a quick question never waits for a long one to end. A generator
    may yield a result, Together, or None to let others go first. It is closed at the next turn after its last watcher
    has left, and a long turn ends sooner where it asks whether it is wanted (explorer.wanted).

    asked: the parameters of the question. begin: starts the job and returns its result, or its generator. kind:
    computations of the same kind have turns of about the same length. scope: the context manager that each turn runs
    in. mend: takes an error and the number of the attempt, and returns the error to report, or None to begin again.
    ended: called at the end, before the watchers learn of it.
    """

    def __init__(
        self,
        asked: Any,
        begin: Callable[[], Any],
        workers: Workers,
        kind: Hashable,
        scope: Callable[[], AbstractContextManager[Any]],
        mend: Callable[[BaseException, int], BaseException | None],
        ended: Callable[[Computation, BaseException | None], None],
    ) -> None:
        self._asked, self._begin, self._workers, self._kind = asked, begin, workers, kind
        self._scope, self._mend, self._on_end = scope, mend, ended
        self._steps: Generator[Any, Any, None] | None = None
        self._lock = threading.Lock()
        self._watchers = self._attempts = self._version = 0
        self._latest: Any = None
        self._given_up = False
        self._spent, self._since = 0.0, time.monotonic()
        self.done: Future[Any] = Future()
        """A future of the last result, or of the error."""

    def watch(self) -> Subscription | None:
        """Add a watcher. Returns None if everybody has left and the work was given up."""
        with self._lock:
            if self._given_up:
                return None
            self._watchers += 1
        return Subscription(self)

    def leave(self) -> None:
        """Count one watcher less."""
        with self._lock:
            self._watchers -= 1

    def state(self) -> tuple[int, Any, bool]:
        """Return the number of results so far, the latest result, and whether it is the last."""
        with self._lock:
            return self._version, self._latest, self.done.done()

    def start(self, alike: Hashable = None, together: Callable[[list[Any]], list[Any]] | None = None) -> None:
        """Queue the first turn.

        alike: computations with equal keys may be batched if they wait at the same time. together: computes a batch; it
        takes the parameters of each and returns their results, or ExplorerErrors.
        """
        at_once = None if together is None else lambda several: self._at_once(several, together)
        self._workers.submit(Turn(self._turn, self._kind, alike, at_once, self))

    def _queue(self, work: Callable[[], None]) -> None:
        self._workers.submit(Turn(work, self._kind, since=self._since, spent=self._spent))

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Run a piece of the work in its scope, and count the seconds that it takes."""
        with self._scope(), asking(self._is_watched):
            began = time.monotonic()
            try:
                yield
            finally:
                with self._lock:  # pieces end side by side
                    self._spent += time.monotonic() - began

    def _at_once(self, several: list[Computation], together: Callable[[list[Any]], list[Any]]) -> None:
        """Compute several computations as one batch, or each by itself if the batch fails."""
        watched = [one for one in several if not one.is_given_up()]
        try:
            with self._scope():
                results = together([one._asked for one in watched])
        except BaseException:
            # An error of the batch may belong to one text alone, so the others must not fail with it.
            for one in watched:
                one._queue(one._turn)
            return
        for one, result in zip(watched, results, strict=True):
            if isinstance(result, BaseException):
                one.fail(result)
            else:
                one._show(result)
                one._end(None)

    def _turn(self, answers: list[Any] | None = None) -> None:
        if self.is_given_up():
            return
        try:
            with self._working():
                step = self._next(answers)
        except UnwantedError:
            self._steps = None  # a generator that has raised cannot go on
            if not self.is_given_up():  # somebody has come meanwhile
                self._queue(self._turn)
            return
        except BaseException as error:
            self.fail(error)
            return
        if step is _OVER:
            self._end(None)
        elif isinstance(step, Together) and step.items:
            _Pieces(self, step, self._working, self._queue, self._turn).start()
        else:
            # An empty Together has no piece that would hand on its answers.
            self._queue(partial(self._turn, [] if isinstance(step, Together) else None))

    def _next(self, answers: list[Any] | None) -> Any:
        """Run the job until it next yields or returns."""
        if self._steps is None:
            result = self._begin()
            if not isinstance(result, Generator):
                self._show(result)
                return _OVER
            self._steps = result
        try:
            step = self._steps.send(answers)  # None at first, as a generator wants it: the first turn has no answers
        except StopIteration:
            return _OVER
        if step is not None and not isinstance(step, Together):
            self._show(step)
        return step

    def _show(self, result: Any) -> None:
        with self._lock:
            self._latest, self._version = result, self._version + 1

    def fail(self, error: BaseException) -> None:
        """Begin the job again, or report an error to the watchers, as `mend` decides."""
        self._attempts += 1
        told = self._mend(error, self._attempts)
        if told is None:
            self._steps = None  # a generator that has raised cannot go on
            self._queue(self._turn)
        else:
            self._end(told)

    def _end(self, error: BaseException | None) -> None:
        # Before the future is done: who asks again once it is must find the answer kept, or a failure forgotten.
        self._on_end(self, error)
        if error is None:
            self.done.set_result(self._latest)
        else:
            self.done.set_exception(error)

    def _is_watched(self) -> bool:
        with self._lock:
            return self._watchers > 0

    def is_given_up(self) -> bool:
        """Return whether nobody watches any more; whatever is unfinished is then ended here."""
        with self._lock:
            # Checked and set under one lock with watch(), so that nobody joins what is about to be closed.
            if self._watchers > 0 or self._given_up:
                return self._given_up
            self._given_up = True
        error = CancelledError()
        self._on_end(self, error)
        if self._steps is not None:
            self._steps.close()  # runs the job's `finally` blocks in this thread, between two turns
        self.done.set_exception(error)
        return True


class _Pieces:
    """The pieces of a Together, of which AT_ONCE run at the same time; the last to finish hands all the answers on."""

    def __init__(
        self,
        owner: Computation,
        pieces: Together,
        working: Callable[[], AbstractContextManager[None]],
        queue: Callable[[Callable[[], None]], None],
        go_on: Callable[[list[Any]], None],
    ) -> None:
        self._owner, self._work, self._working, self._queue, self._go_on = owner, pieces.work, working, queue, go_on
        self._waiting = deque(enumerate(pieces.items))
        self._answers: list[Any] = [None] * len(pieces.items)
        self._left = len(pieces.items)
        self._error: BaseException | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Queue the first pieces; each queues the next when it ends."""
        for _ in range(min(AT_ONCE, self._left)):
            self._queue(self._one)

    def _one(self) -> None:
        if not self._waiting or self._owner.is_given_up():
            return
        with self._lock:
            place, item = self._waiting.popleft()
        try:
            with self._working():
                self._answers[place] = self._work(item)
        except UnwantedError:
            with self._lock:
                self._waiting.appendleft((place, item))
            self._queue(self._one)  # which ends it, unless somebody has come meanwhile
            return
        except BaseException as error:
            self._error = self._error or error
        with self._lock:
            if self._error is not None:  # what is in work ends first: the job may begin again
                self._left -= len(self._waiting)
                self._waiting.clear()
            self._left -= 1
            over = self._left == 0
        if not over:
            self._queue(self._one)
        elif self._error is not None:
            self._owner.fail(self._error)
        else:
            self._queue(partial(self._go_on, self._answers))


class Subscription(Iterator[Any]):
    """One watcher of a computation. As an iterator it gives each newer result, None if nothing is new, and raises the
    error at the end.

    It never waits. Close it, or let go of it, to stop watching.
    """

    def __init__(self, computation: Computation) -> None:
        self._computation, self._seen, self._open = computation, 0, True

    def __next__(self) -> Any:
        version, latest, over = self._computation.state()
        if version != self._seen:  # results that came between two looks are skipped: only the latest counts
            self._seen = version
            return latest
        if not over:
            return None
        self.close()
        error = self._computation.done.exception()
        raise StopIteration if error is None else error

    @property
    def last(self) -> Future[Any]:
        """A future of the last result that belongs to this watcher alone: cancelling it takes nothing from others. It
        watches until then.
        """
        own: Future[Any] = Future()

        def pass_on(done: Future[Any]) -> None:
            self.close()
            if own.set_running_or_notify_cancel():
                error = done.exception()
                own.set_result(done.result()) if error is None else own.set_exception(error)

        self._computation.done.add_done_callback(pass_on)
        return own

    def close(self) -> None:
        """Stop watching."""
        if self._open:
            self._open = False
            self._computation.leave()

    def __del__(self) -> None:
        self.close()
