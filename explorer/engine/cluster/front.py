"""The engine of a cluster: each question goes to a replica of Ray Serve, each run to an actor, and torch stays over there.

Answers, runs and the line are kept here as on one machine. What a lost machine was working on is asked again elsewhere; a run
goes on from its last checkpoint. A machine that hangs counts as lost once it has given no word for a while.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

import ray
from ray import serve
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayActorError, RayTaskError

from explorer.engine.cluster.behind import Answers, Nothing, Trainer
from explorer.engine.cluster.files import GoneError
from explorer.engine.cluster.parcels import Brought, Sender
from explorer.engine.computation import Computation
from explorer.engine.local import LocalEngine, Question
from explorer.engine.protocol import DownloadProgress, Job, ModelStatus
from explorer.engine.resources import Resources
from explorer.errors import ExplorerError
from explorer.models.trained import made_by
from explorer.runs.record import RunRecord
from explorer.settings import ROOT, Settings

NAME = "bert-explorer"
MOST_AT_ONCE = 64
"""Questions that are out at the same time; each has a thread that waits."""

ASKED_AT_ONCE = 4
"""Questions of a replica beyond which another is started, where the cluster has a machine for it."""

CPUS = 0.5
"""What Ray counts for a replica and for a run: they share a machine's cores, and a run finds a place where machines are lost."""

LOOK_SECONDS = 0.2
"""How long a turn waits for news before it looks whether anybody still watches."""

TRIES = 4
"""How often a question or a run is begun where the machines that work on it are lost."""

SILENT_SECONDS = 10.0
"""Without a word of a run's actor, after which its record says so: it speaks every second, whatever it does."""

HUNG_SECONDS = 60.0
"""Without a word, after which its machine counts as lost."""

REPLICA_SECONDS = 15.0
"""Without an answer to Ray Serve's look at a replica; after three in a row it is replaced, and its questions are asked again."""


class HungError(Exception):
    """An actor is there, and has given no word for long."""


LOST = (RayActorError, ActorDiedError, ActorUnavailableError, HungError)

LOADED = Job("explorer.engine.cluster.behind:loaded")


class RayEngine(LocalEngine):
    """Runs each job on a cluster; see explorer.engine.protocol.Engine."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(replace(settings, workers=MOST_AT_ONCE))
        self._behind = replace(settings, backend="local")
        self._sender = Sender(settings)
        self._loaded: dict[str, ModelStatus] = {}
        _join(settings)
        serve.start(proxy_location="Disabled")
        answers = Answers.options(**_replicas(settings))  # type: ignore[attr-defined]
        self._answering = serve.run(answers.bind(self._behind), name=NAME, route_prefix=None)

    def close(self) -> None:
        """Let the replicas go."""
        serve.delete(NAME)

    def _together(self, job: Job, model: str) -> None:
        """What can be done as one is put together where it is done."""

    def _computation(self, key: Question, resources: Resources) -> Computation:
        job, params, model, _ = key
        return Computation(
            params,
            lambda: self._asked(job, params, model),
            self._workers,
            (job, model),
            nullcontext,
            lambda error, attempt: error,
            self._forgetting(key, resources),
        )

    def _asked(self, job: Job, params: Any, model: str) -> Iterator[Any]:
        """A job's results from a replica, None where there is no news; from another replica where that one is lost."""
        seen = 0
        for left in reversed(range(TRIES)):
            handle = self._answering.options(stream=True, multiplexed_model_id=model)
            response = handle.follow.remote(job, params, model, self._sender.question(self.runs, model, params))
            came, over = 0, False
            try:
                for result in _as_they_come(response):
                    came += result is not None
                    if result is None or came > seen:  # what came before a loss is not shown again
                        yield self._sender.unpacked(result)
                    seen = max(seen, came)
                over = True
                return
            except GoneError:  # what lies between the machines was tidied away meanwhile
                if not left:
                    raise
                self._sender.files.forget()
            except LOST:
                if not left:
                    raise ExplorerError(
                        "The machines that worked on this were lost. Ask again; if it stays so, tell whoever runs the server."
                    ) from None
            finally:
                if not over:
                    response.cancel()

    def train(self, record: RunRecord, publish: Callable[[RunRecord], None], stopping: threading.Event) -> None:
        """Have an actor train a run, and another go on from its checkpoint where the first is lost or hangs."""
        for left in reversed(range(TRIES)):
            trainer = Trainer.options(num_cpus=CPUS, num_gpus=self._settings.ray_gpus).remote(self._behind)  # type: ignore[attr-defined]
            try:
                for newer in self._training(trainer, record, stopping):
                    record = newer
                    publish(record)
                self._tidy()
                return
            except GoneError:
                if not left:
                    raise
                self._sender.files.forget()
            except LOST:
                if not left:
                    raise ExplorerError(
                        "The machines that trained this run were lost. Press Resume to go on."
                    ) from None
                record = record.but(message="Its machine was lost: it goes on from the last checkpoint")
                publish(record)
            finally:
                ray.kill(trainer)

    def _training(self, trainer: Any, record: RunRecord, stopping: threading.Event) -> Iterator[RunRecord]:
        """The records of a run, each with when its actor was last heard. Raises HungError where it is silent for long."""
        stream = trainer.train.options(num_returns="streaming").remote(record, self._sender.run(self.runs, record))
        told, heard, complained = False, 0.0, 0.0
        while True:
            if stopping.is_set() and not told:
                told = bool(trainer.stop.remote())
            ready, _ = ray.wait([stream], timeout=LOOK_SECONDS)
            now = time.monotonic()
            if ready:
                try:
                    record = self._heard(ray.get(next(stream)), record)
                except StopIteration:
                    return
                except RayTaskError as error:
                    raise error.cause from None
                heard = complained = now
                yield record
            elif heard and now - heard > HUNG_SECONDS:  # before its first word it waits for a machine, and is not hung
                raise HungError
            elif heard and now - complained > SILENT_SECONDS:
                complained = now
                record = record.but(message=f"No word from its machine for {now - heard:.0f} s")
                yield record

    def _heard(self, news: Any, last: RunRecord) -> RunRecord:
        """The newest record of a run after a word of its actor, once the files that came with it are here."""
        if isinstance(news, Brought):
            try:
                self._sender.take(last.run_id, news.data)
            except GoneError as error:  # of two runs that are alike to the last digit one has let the checkpoint go
                logging.getLogger("explorer").warning("a checkpoint of %s is left out: %s", last.run_id, error)
            news = news.result
        said = "" if last.message.startswith("No word") else last.message
        newest: RunRecord = last.but(message=said) if news is None else news
        return replace(newest, heard=time.time())

    def _tidy(self) -> None:
        try:
            self._sender.tidy()
        except ExplorerError as error:
            logging.getLogger("explorer").error("%s", error)

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Download where needed, into the folder that all machines see, then have a replica load it."""
        from explorer.models.hub import download, local_folder

        if local_folder(model_id, self._settings) is None and not made_by(model_id):
            with closing(download(model_id, self._settings)) as updates:
                for progress in updates:
                    yield DownloadProgress(progress.done, progress.total)
        self._loaded[model_id] = self.follow(LOADED, Nothing(), model_id).last.result()
        yield DownloadProgress(1, 1)

    def status(self, model_id: str) -> ModelStatus:
        """As a replica that has loaded it knows it, else from the catalog."""
        return self._loaded.get(model_id) or super().status(model_id)

    def warm_up(self, model_id: str) -> None:
        """Have a replica load the model."""
        self.follow(LOADED, Nothing(), model_id)


def _join(settings: Settings) -> None:
    """Join the cluster, or start one here where none is named. Raises ExplorerError."""
    try:
        ray.init(
            address=settings.ray_address or None,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
            log_to_driver=False,
            ignore_reinit_error=True,  # a test's cluster is joined already
            include_dashboard=False,
        )
    except (
        ConnectionError,
        RuntimeError,
        ValueError,
    ) as error:  # nobody there; no token, or another version; no address
        raise ExplorerError(
            f"The Ray cluster at {settings.ray_address or 'this machine'} could not be joined. Start one by `ray start --head`, "
            f"and name it in RAY_ADDRESS. ({error})"
        ) from error


def _replicas(settings: Settings) -> dict[str, Any]:
    """Options of the deployment: as many replicas as are set, or between one and one a machine, by what is asked."""
    options = {
        "ray_actor_options": {"num_cpus": CPUS, "num_gpus": settings.ray_gpus},
        "health_check_timeout_s": REPLICA_SECONDS,
    }
    if settings.ray_replicas:
        return {**options, "num_replicas": settings.ray_replicas}
    machines = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    most = max(1, len(machines))
    return {
        **options,
        "autoscaling_config": {"min_replicas": 1, "max_replicas": most, "target_ongoing_requests": ASKED_AT_ONCE},
    }


def _as_they_come(response: Any) -> Iterator[Any]:
    """Results of a replica's stream, None where there is no news for a while. Raises what the job raises."""
    news: SimpleQueue[tuple[bool, Any]] = SimpleQueue()

    def read() -> None:
        try:
            for result in response:
                news.put((True, result))
        except BaseException as error:
            news.put((False, error.cause if isinstance(error, RayTaskError) else error))
        else:
            news.put((False, None))

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            good, result = news.get(timeout=LOOK_SECONDS)
        except Empty:
            yield None
            continue
        if good:
            yield result
        elif result is None:
            return
        else:
            raise result
