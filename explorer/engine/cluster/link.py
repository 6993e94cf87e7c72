"""The front's link to the cluster, through a process of its own that has joined it.

Ray ends a process whose cluster has lost its head, and the front must go on. It asks that process
(explorer.engine.cluster.driver) by a pipe. It looks every second whether the process is there and the head can be
reached, ends the process if either is not, and starts another once the head is back.
"""

from __future__ import annotations

import itertools
import logging
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import Empty, SimpleQueue
from typing import Any

from explorer.errors import ExplorerError
from explorer.settings import ROOT, Settings

NEWS, OVER, ERROR = "news", "over", "error"
"""Kinds of messages that come back: a result of a question or a record of a run; its end; the error that ended it."""

SILENT: Any = object()
"""Stands in place of a result if nothing has come for LOOK_SECONDS."""

LOOK_SECONDS = 0.2
"""Seconds that a reader waits for news before it looks whether anybody still watches."""

WATCH_SECONDS = 1.0
"""Seconds between two looks at the head and at the process, and the longest that the head may take to answer."""

AWAY_SECONDS = 10.0
"""Seconds without an answer of the head after which it counts as lost, so that a short break of the network does not."""

JOIN_SECONDS = 600.0
"""Seconds that joining and starting the replicas may take: minutes on a busy machine."""

END_SECONDS = 10.0


class LostError(Exception):
    """Raised if the process that worked on a question is lost; another may be asked the same."""


class AwayError(ExplorerError):
    """Raised if the cluster cannot be reached, or not yet again."""


class Stream:
    """The messages that come back for one question or one run. Closing it ends whatever is unfinished."""

    def __init__(self, link: Link, number: int) -> None:
        self._link, self._number = link, number
        self.said: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._is_over = False

    def __iter__(self) -> Iterator[Any]:
        """Yield the results as they come, and SILENT if there is none for a while. Raises LostError, and what the job
        raises.
        """
        while True:
            try:
                kind, value = self.said.get(timeout=LOOK_SECONDS)
            except Empty:
                yield SILENT
                continue
            if kind == NEWS:
                yield value
                continue
            self._is_over = True
            if kind == ERROR:
                raise value
            return

    def tell(self, word: str) -> None:
        """Send a word to whoever works on this; it is lost if they are gone."""
        self._link.tell(self._number, word)

    def close(self) -> None:
        """Stop listening, and end the work if it is not over."""
        self._link.forget(self._number)
        if not self._is_over:
            self.tell("end")


class Link:
    """Joins the cluster, and joins it again after it was lost. name: that of the deployment which answers there. Raises
    ExplorerError if the cluster cannot be joined.
    """

    def __init__(self, settings: Settings, name: str) -> None:
        self._settings, self._name = settings, name
        self._head = _host_and_port(settings.ray_address)
        self._lock = threading.Lock()
        self._streams: dict[int, Stream] = {}
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe: Connection | None = None
        self._closed = threading.Event()
        self._join(again=False)
        threading.Thread(target=self._watch, daemon=True, name="cluster").start()

    def ask(self, *what: Any) -> Stream:
        """Ask for something to be done: "follow" a job, or "train" a run. Raises AwayError."""
        with self._lock:
            if self._pipe is None:
                raise self._away()
            number = next(self._numbers)
            stream = self._streams[number] = Stream(self, number)  # before it is sent: the first news may come at once
            try:
                self._pipe.send((number, *what))
            except OSError:
                del self._streams[number]
                raise self._away() from None
        return stream

    def tell(self, number: int, word: str) -> None:
        """Send a word about something that was asked before."""
        with self._lock, suppress(OSError):
            if self._pipe is not None:
                self._pipe.send((number, word))

    def forget(self, number: int) -> None:
        """Drop the news of a question that nobody listens to any more."""
        with self._lock:
            self._streams.pop(number, None)

    def is_there(self) -> bool:
        """Return whether something can be asked now."""
        return self._pipe is not None

    def close(self) -> None:
        """End the replicas and the process."""
        self._closed.set()
        self.tell(0, "close")
        with suppress(subprocess.TimeoutExpired):
            if self._process is not None:
                self._process.wait(END_SECONDS)
        self._drop(self._pipe)

    def _away(self) -> AwayError:
        where = f"its head, {self._settings.ray_address}, does not answer" if self._head else "it has ended"
        return AwayError(
            f"The cluster that computes for this server cannot be reached: {where}. What was asked before is still answered, and "
            "everything else once the cluster is back. Try again in a minute."
        )

    def _join(self, again: bool) -> None:
        """Start the process and wait until it has joined. Raises ExplorerError."""
        if self._head and not _answers(self._head):  # ray.init would look for it for a quarter of an hour
            raise ExplorerError(
                f"The Ray cluster at {self._settings.ray_address} could not be joined: nobody answers there. Start one by "
                "`ray start --head`, and name it in RAY_ADDRESS."
            )
        here, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "explorer.engine.cluster.driver", str(there.fileno())],
                cwd=ROOT,
                pass_fds=[there.fileno()],
                start_new_session=True,  # Ctrl-C is for the front, with which this one ends
            )
        pipe = Connection(here.detach())
        try:
            pipe.send((self._settings, self._name, again))
            if not pipe.poll(JOIN_SECONDS):
                raise ExplorerError(f"The Ray cluster was not joined within {JOIN_SECONDS:.0f} s.")
            kind, value = pipe.recv()
            if kind == ERROR:
                raise value
        except (OSError, EOFError, ExplorerError) as error:
            pipe.close()
            self._end_process()
            if isinstance(error, ExplorerError):
                raise
            raise ExplorerError("The process that was to join the Ray cluster has ended; its log says why.") from error
        with self._lock:
            self._pipe = pipe
        threading.Thread(target=self._hear, args=[pipe], daemon=True, name="cluster-news").start()

    def _hear(self, pipe: Connection) -> None:
        """Hand on the messages that come back, until the process ends."""
        with suppress(OSError, EOFError):
            while True:
                number, kind, value = pipe.recv()
                stream = self._streams.get(number)
                if stream is not None:
                    stream.said.put((kind, value))
        self._drop(pipe)

    def _drop(self, pipe: Connection | None) -> None:
        """Ask nothing more of the process at the other end of the pipe, and report what it was asked as lost."""
        with self._lock:
            if self._pipe is not pipe or pipe is None:  # somebody else has seen it first
                return
            self._pipe, streams = None, list(self._streams.values())
            self._streams.clear()
            self._end_process()
        # Outside the lock, which a stream's reader may want: it asks again as soon as it hears of the loss.
        for stream in streams:
            stream.said.put((ERROR, LostError()))

    def _end_process(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _watch(self) -> None:
        seen = time.monotonic()
        while not self._closed.wait(WATCH_SECONDS):
            answers = self._head is None or _answers(self._head)
            now = time.monotonic()
            seen = now if answers else seen
            if self._pipe is not None and now - seen > AWAY_SECONDS:
                logging.getLogger("explorer").error("the head of the Ray cluster does not answer")
                self._drop(self._pipe)
            elif self._pipe is None and answers:
                try:
                    self._join(again=True)
                    logging.getLogger("explorer").warning("the Ray cluster is joined again")
                except ExplorerError as error:
                    logging.getLogger("explorer").error("%s", error)


def _host_and_port(address: str) -> tuple[str, int] | None:
    """Return the head's host and port; None for an address of another form, or for none."""
    found = re.fullmatch(r"\[?([\w.:-]+?)\]?:(\d{1,5})", address.strip())
    return (found[1], int(found[2])) if found else None


def _answers(head: tuple[str, int]) -> bool:
    try:
        socket.create_connection(head, WATCH_SECONDS).close()
    except (OSError, OverflowError):
        return False
    return True
