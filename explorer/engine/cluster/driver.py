"""The process that has joined the cluster for the front; explorer.engine.cluster.link starts it by `python -m
explorer.engine.cluster.driver FD`.

It hands questions to replicas and runs to actors, and reports what comes of them, until the front closes the pipe or
ends. Ray ends this process a minute after the head is lost, whatever it does.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import ray
from ray import serve
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayActorError, RayTaskError

from explorer.engine.cluster.link import ERROR, NEWS, OVER, LostError
from explorer.engine.cluster.replica import Answers, Trainer
from explorer.errors import ExplorerError, readable
from explorer.settings import ROOT, Settings, start_no_cluster_unasked

LOST = (RayActorError, ActorDiedError, ActorUnavailableError)

ASKED_AT_ONCE = 4
"""Questions in work on one replica from which another is started, if the cluster has a machine for it."""

CPUS = 0.5
"""CPUs that Ray reserves for a replica and for a run: less than one, so that they share a machine's cores and a run
still finds a place when machines are lost.
"""

REPLICA_SECONDS = 15.0
"""Seconds that a replica may take to answer Ray Serve's health check; after three misses in a row it is replaced, and
its questions are asked again.
"""

START_SECONDS = 120.0
"""Seconds that this machine's part of a cluster may take to start."""


class Driver:
    """Does what the front asks, each thing in a thread of its own."""

    def __init__(self, pipe: Connection, settings: Settings, name: str) -> None:
        self._pipe, self._settings, self._name = pipe, settings, name
        self._behind = replace(settings, backend="local")  # on the cluster's machines, each computes for itself
        self._sending = threading.Lock()
        self._told: dict[int, Callable[[str], None]] = {}
        answers = Answers.options(**_replicas(settings))  # type: ignore[attr-defined]
        self._answering = serve.run(answers.bind(self._behind), name=name, route_prefix=None)

    def serve(self) -> None:
        """Handle the front's messages until it has gone, or asks to close."""
        with suppress(OSError, EOFError):
            while True:
                number, word, *what = self._pipe.recv()
                if word == "close":
                    serve.delete(self._name)
                    return
                if word in ("follow", "train"):
                    self._begin(number, word, *what)
                elif number in self._told:
                    self._told[number](word)

    def _begin(self, number: int, word: str, *what: Any) -> None:
        try:
            news = (self._follow if word == "follow" else self._train)(number, *what)
        except Exception as error:
            self._fail(number, error)
        else:
            threading.Thread(target=self._hand_on, args=[number, news], daemon=True).start()

    def _hand_on(self, number: int, news: Iterator[Any]) -> None:
        try:
            for one in news:
                self._say(number, NEWS, one)
        except Exception as error:
            self._fail(number, error)
        else:
            self._say(number, OVER)
        finally:
            self._told.pop(number, None)

    def _fail(self, number: int, error: Any) -> None:
        raised = error.cause if isinstance(error, RayTaskError) else error
        self._say(number, ERROR, LostError() if isinstance(raised, LOST) else raised)

    def _say(self, number: int, kind: str, value: Any = None) -> None:
        try:
            message = pickle.dumps((number, kind, value))
        except Exception:  # a library's error that cannot be sent
            # A sentence for the visitor then stands for it, and the error is in the log.
            message = pickle.dumps((number, ERROR, readable(value if isinstance(value, Exception) else TypeError())))
        with self._sending, suppress(OSError):  # the front has gone, and so does this process
            self._pipe.send_bytes(message)

    def _follow(self, number: int, job: Any, params: Any, model: str, parcel: Any) -> Iterator[Any]:
        """Return a job's results, from a replica that has the model in memory if there is one."""
        handle = self._answering.options(stream=True, multiplexed_model_id=model)
        response = handle.follow.remote(job, params, model, parcel)
        self._told[number] = lambda word: response.cancel()
        return iter(response)

    def _train(self, number: int, record: Any, parcel: Any) -> Iterator[Any]:
        """Return a run's records, from an actor of its own; None stands for a word that brings nothing new."""
        trainer = Trainer.options(num_cpus=CPUS, num_gpus=self._settings.ray_gpus).remote(self._behind)  # type: ignore[attr-defined]

        def hear(word: str) -> None:
            if word == "stop":
                trainer.stop.remote()
            else:
                ray.kill(trainer)

        self._told[number] = hear
        return _heard(trainer, trainer.train.options(num_returns="streaming").remote(record, parcel))


def _heard(trainer: Any, stream: Any) -> Iterator[Any]:
    """Yield an actor's words, and end the actor with them."""
    try:
        for said in stream:
            yield ray.get(said)
    finally:
        ray.kill(trainer)


def _join(settings: Settings, again: bool) -> None:
    """Join the cluster, or start one on this machine if no address is set. Raises ExplorerError.

    again: it was joined before and its head was lost.
    """
    try:
        _init(settings)
    except ExplorerError:
        # Ray's part on this machine ends with the head, so it is started here again.
        if not (again and settings.ray_address):
            raise
        start = [
            sys.executable,
            "-m",
            "ray.scripts.scripts",
            "start",
            f"--address={settings.ray_address}",
            "--num-cpus=0",  # this machine only passes things on; it computes nothing for the cluster
        ]
        with suppress(subprocess.SubprocessError):
            subprocess.run(start, stdout=subprocess.DEVNULL, timeout=START_SECONDS, check=False)
        _init(settings)


def _init(settings: Settings) -> None:
    try:
        ray.init(
            address=settings.ray_address or None,
            runtime_env={"env_vars": {"PYTHONPATH": str(ROOT)}},
            log_to_driver=False,
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
    """Return the options of the deployment: the number of replicas that is set, or from one up to one a machine, as
    load demands.
    """
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


def main() -> None:
    """Join the cluster, report it to the front, and work until it closes the pipe."""
    pipe = Connection(int(sys.argv[1]))
    settings, name, again = pipe.recv()
    try:
        _join(settings, again)
        serve.start(proxy_location="Disabled")
        driver = Driver(pipe, settings, name)
    except ExplorerError as error:
        pipe.send((ERROR, error))
        return
    pipe.send((OVER, None))
    driver.serve()
    start_no_cluster_unasked()
    ray.shutdown()
    os._exit(0)  # threads may still wait for an answer


if __name__ == "__main__":
    main()
