"""The front's link to the cluster: a process of its own has joined it, since Ray ends a process whose cluster's head is lost.

The front asks that process (explorer.engine.cluster.driver) by a pipe. It looks every second whether the process is there and
the head can be reached, lets the process go where one of them is away, and starts another once the head is back.
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
"""What comes back: a result of a question or a word of a run, its end, or what ended it."""

SILENT: Any = object()
"""In the place of a result where nothing has come for LOOK_SECONDS."""

LOOK_SECONDS = 0.2
"""How long somebody waits for news before they look whether anybody still watches."""

WATCH_SECONDS = 1.0
"""Between two looks at the head and at the process; also how long the head may take to answer."""

AWAY_SECONDS = 10.0
"""Without an answer of the head, after which it counts as lost: a shorter break of the network is none."""

JOIN_SECONDS = 600.0
"""How long joining may take, and the start of the replicas: minutes on a busy machine."""

END_SECONDS = 10.0


class LostError(Exception):
    """What worked on this is lost; somebody else may be asked the same."""


class AwayError(ExplorerError):
    """The cluster cannot be reached, or not yet again."""


class Stream:
    """What comes back of one question or one run. Close it: whatever is unfinished then ends."""

    def __init__(self, link: Link, number: int) -> None:
        self._link, self._number = link, number
        self.said: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self._is_over = False

    def __iter__(self) -> Iterator[Any]:
        """The results as they come, SILENT where there are none for a while. Raises LostError, and what the job raises."""
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
        """Say something to who works on it; nothing where they are gone."""
        self._link.tell(self._number, word)

    def close(self) -> None:
        """Listen no more."""
        self._link.forget(self._number)
        if not self._is_over:
            self.tell("end")


class Link:
    """Joins the cluster, and keeps to it. name: of what answers there. Raises ExplorerError where it cannot be joined."""

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
        """Have something done: "follow" a job, or "train" a run. Raises AwayError."""
        with self._lock:
            if self._pipe is None:
                raise self._away()
            number = next(self._numbers)
            stream = self._streams[number] = Stream(self, number)
            try:
                self._pipe.send((number, *what))
            except OSError:
                del self._streams[number]
                raise self._away() from None
        return stream

    def tell(self, number: int, word: str) -> None:
        """Say something about what was asked before."""
        with self._lock, suppress(OSError):
            if self._pipe is not None:
                self._pipe.send((number, word))

    def forget(self, number: int) -> None:
        """Nobody listens to this any more."""
        with self._lock:
            self._streams.pop(number, None)

    def is_there(self) -> bool:
        """Whether something can be asked now."""
        return self._pipe is not None

    def close(self) -> None:
        """Let the replicas and the process go."""
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
        """Hand on what comes back, until the process ends."""
        with suppress(OSError, EOFError):
            while True:
                number, kind, value = pipe.recv()
                stream = self._streams.get(number)
                if stream is not None:
                    stream.said.put((kind, value))
        self._drop(pipe)

    def _drop(self, pipe: Connection | None) -> None:
        """Ask nothing more of the process at the other end; what it was asked is lost."""
        with self._lock:
            if self._pipe is not pipe or pipe is None:  # somebody else has seen it first
                return
            self._pipe, streams = None, list(self._streams.values())
            self._streams.clear()
            self._end_process()
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
    """Of the head; None where the address is another one, or none."""
    found = re.fullmatch(r"\[?([\w.:-]+?)\]?:(\d{1,5})", address.strip())
    return (found[1], int(found[2])) if found else None


def _answers(head: tuple[str, int]) -> bool:
    try:
        socket.create_connection(head, WATCH_SECONDS).close()
    except (OSError, OverflowError):
        return False
    return True
