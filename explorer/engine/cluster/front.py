"""The engine of a cluster: each question goes to a replica of Ray Serve and each run to an actor, so this process needs
no torch.

Answers, runs and the queue are kept here as on one machine. What a lost machine was working on is asked again
elsewhere; a run goes on from its last checkpoint. A machine that hangs counts as lost once it has been silent for a
while. While the cluster itself is away, questions are answered by a sentence that says so, and runs wait for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from explorer.engine.cluster.files import GoneError
from explorer.engine.cluster.link import LOOK_SECONDS, SILENT, AwayError, Link, LostError
from explorer.engine.cluster.payloads import Brought, Sender
from explorer.engine.computation import Computation
from explorer.engine.local import LocalEngine, Question
from explorer.engine.protocol import DownloadProgress, Job, ModelStatus
from explorer.engine.resources import Resources
from explorer.errors import ExplorerError
from explorer.models.catalog import made_by
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings

NAME = "bert-explorer"
MOST_AT_ONCE = 64
"""Questions that are out at the same time; a thread waits for each."""

TRIES = 4
"""How often a question or a run is begun if the machines that work on it are lost."""

SILENT_SECONDS = 10.0
"""Seconds of silence after which a run's record says so; its actor has a word every second, whatever it does."""

HUNG_SECONDS = 60.0
"""Seconds of silence after which a run's machine counts as lost."""

LOADED = Job("explorer.engine.cluster.replica:status")


@dataclass(frozen=True)
class Nothing:
    """The parameters of a job that has none."""


class RayEngine(LocalEngine):
    """Runs each job on a cluster; see explorer.engine.protocol.Engine."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(replace(settings, workers=MOST_AT_ONCE))
        self._sender = Sender(settings)
        self._loaded: dict[str, ModelStatus] = {}
        self._link = Link(settings, NAME)

    def close(self) -> None:
        """End the replicas."""
        self._link.close()

    def _together(self, job: Job, model: str) -> None:
        """Batch nothing here: the replica that computes the questions batches them."""

    def _computation(self, key: Question, resources: Resources) -> Computation:
        job, params, model, _ = key
        return Computation(
            params,
            lambda: self._asked(job, params, model),
            self._workers,
            (job, model),
            nullcontext,
            lambda error, attempt: error,  # the replica's own engine has tried again already
            self._forgetting(key, resources),
        )

    def _asked(self, job: Job, params: Any, model: str) -> Iterator[Any]:
        """Ask a replica, and yield a job's results, None if there is no news. Asks another replica if that one is lost."""
        seen = 0
        for left in reversed(range(TRIES)):
            stream = self._link.ask("follow", job, params, model, self._sender.question(self.runs, model, params))
            came = 0
            try:
                for result in stream:
                    if result is SILENT:
                        yield None
                        continue
                    came += 1
                    if came > seen:  # what came before a loss is not shown again
                        yield self._sender.unpacked(result)
                    seen = max(seen, came)
                return
            except GoneError:  # what lies between the machines was tidied away meanwhile
                if not left:
                    raise
                self._sender.files.forget()
            except LostError:
                if not left:
                    raise ExplorerError(
                        "The machines that worked on this were lost. Ask again; if it stays so, tell whoever runs the server."
                    ) from None
            finally:
                stream.close()

    def train(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        """Have an actor train a run, and another go on from its checkpoint if the first is lost or hangs."""
        left = TRIES
        while left:
            try:
                for newer in self._training(record, stopping):
                    record = newer
                    publish(record)
                self._tidy()
                return
            except AwayError:  # no fault of a machine's, so it does not count among the tries
                record = record.evolve(
                    message="The cluster's head is away: the run goes on from the last checkpoint once it is back"
                )
                publish(record)
                if not self._is_back(stopping):
                    said = "Stopped while the cluster's head was away; press Resume to go on from the last checkpoint."
                    publish(record.evolve(status=RunStatus.INTERRUPTED, message=said))
                    return
            except GoneError:
                left -= 1
                if not left:
                    raise
                self._sender.files.forget()
            except LostError:
                left -= 1
                record = record.evolve(message="Its machine was lost: it goes on from the last checkpoint")
                publish(record)
        raise ExplorerError("The machines that trained this run were lost. Press Resume to go on.")

    def _is_back(self, stopping: threading.Event) -> bool:
        """Wait for the cluster to be back. Returns False if the run is stopped before."""
        while not self._link.is_there():
            if stopping.wait(LOOK_SECONDS):
                return False
        return True

    def _training(self, record: RunRecord, stopping: threading.Event) -> Iterator[RunRecord]:
        """Yield the records of a run, each with the time when its actor was last heard. Raises LostError if it is
        silent for long.
        """
        told, heard, complained = False, 0.0, 0.0
        with closing(self._link.ask("train", record, self._sender.run(self.runs, record))) as stream:
            for news in stream:
                if stopping.is_set() and not told:
                    stream.tell("stop")
                    told = True
                now = time.monotonic()
                if news is not SILENT:
                    heard = complained = now
                    record = self._heard(news, record)
                    yield record
                elif (
                    heard and now - heard > HUNG_SECONDS
                ):  # before its first word it waits for a machine, and is not hung
                    raise LostError
                elif heard and now - complained > SILENT_SECONDS:
                    complained = now
                    record = record.evolve(message=f"No word from its machine for {now - heard:.0f} s")
                    yield record

    def _heard(self, news: Any, last: RunRecord) -> RunRecord:
        """Return the newest record of a run after a word of its actor, once the files that came with it are here."""
        if isinstance(news, Brought):
            try:
                self._sender.take(last.run_id, news.data)
            except GoneError as error:  # of two runs that are alike to the last digit one has let the checkpoint go
                logging.getLogger("explorer").warning("a checkpoint of %s is left out: %s", last.run_id, error)
            news = news.result
        # A word has come, so the complaint about silence is over.
        said = "" if last.message.startswith("No word") else last.message
        newest: RunRecord = last.evolve(message=said) if news is None else news
        return replace(newest, heard=time.time())

    def _tidy(self) -> None:
        try:
            self._sender.tidy()
        except ExplorerError as error:
            logging.getLogger("explorer").error("%s", error)

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Download the model if needed, into the folder that all machines see, then have a replica load it."""
        from explorer.models.folders import local_folder
        from explorer.models.hub import download

        if local_folder(model_id, self._settings) is None and not made_by(model_id):
            with closing(download(model_id, self._settings)) as updates:
                for progress in updates:
                    yield DownloadProgress(progress.done, progress.total)
        self._loaded[model_id] = self.follow(LOADED, Nothing(), model_id).last.result()
        yield DownloadProgress(1, 1)

    def status(self, model_id: str) -> ModelStatus:
        """Return a model's status as the replica that has loaded it reported it, else from the catalog."""
        return self._loaded.get(model_id) or super().status(model_id)

    def warm_up(self, model_id: str) -> None:
        """Have a replica load the model."""
        self.follow(LOADED, Nothing(), model_id)
