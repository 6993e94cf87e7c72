"""The actors on the cluster's machines: replicas that answer questions, and one actor for each run that trains.

Each holds a LocalEngine, with the records that come along with a question in place of a database: only the front writes
one. The files of runs and the uploads are in a folder that all machines see, or come along too.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

import ray
from ray import serve

from explorer.engine.cluster.payloads import Parcel, Receiver
from explorer.engine.local import LocalEngine, status_of
from explorer.engine.protocol import Job, ModelStatus
from explorer.engine.sent import SentRecords, training
from explorer.runs.record import RunRecord
from explorer.settings import Settings, adopt
from explorer.shelf import trim

LOOK_SECONDS = 0.02
"""Seconds between two looks at a computation that isn't over."""

BEAT_SECONDS = 1.0
"""Seconds after which a run with nothing to report says that it is alive."""

MODELS = 8
"""How many models a replica announces to Ray Serve as being in its memory."""


def status(loaded: Any, params: Any) -> ModelStatus:
    """Return the status of a model that is in memory."""
    return status_of(loaded)


def use_all_cores() -> None:
    """Let torch use every core, since Ray allows a process one thread for each CPU that it asks for."""
    import torch

    torch.set_num_threads(os.cpu_count() or 1)


def at_home(settings: Settings) -> Settings:
    """Return the front's settings, with the folders of this machine if the machines share none, and adopt them in this
    process.
    """
    if settings.files:
        here = Settings.from_environment()
        own = here.data_folder / "brought"  # apart from what a front on this machine keeps
        settings = replace(settings, data_folder=own, hub_cache=here.hub_cache)
    adopt(settings)
    return settings


@serve.deployment(max_ongoing_requests=64)
class Answers:
    """A replica that answers questions; those about a model that it has in memory are sent to it first."""

    def __init__(self, settings: Settings) -> None:
        use_all_cores()
        self._receiver = Receiver(at_home(settings))
        self._records = SentRecords(self._receiver.settings)
        self._engine = LocalEngine(self._receiver.settings, self._records)

    @serve.multiplexed(max_num_models_per_replica=MODELS)  # type: ignore[untyped-decorator]
    async def _model(self, model_id: str) -> str:
        """Load a model into memory; this replica's own memory limit decides how long it stays."""
        # From its file, whose pages a machine's processes share, and not from Ray's object store: docs/deploy.md has
        # the numbers.
        await asyncio.to_thread(self._engine.load_for, model_id)
        return model_id

    async def follow(self, job: Job, params: Any, model: str, parcel: Parcel) -> AsyncIterator[Any]:
        """Yield a job's results as they come, each in a Brought if files come with it."""
        self._records.take(parcel.records)
        if self._receiver.settings.files:
            await asyncio.to_thread(self._receiver.open, parcel)
        if model:
            await self._model(model)
        with self._receiver.given(parcel, params) as params:
            following = await asyncio.to_thread(self._engine.follow, job, params, model)
            ended, last = object(), asyncio.wrap_future(following.last)
            try:
                while (result := next(following, ended)) is not ended:
                    if result is None:
                        # Never blocks the event loop, which serves this replica's other questions too.
                        await asyncio.wait({last}, timeout=LOOK_SECONDS)
                    elif self._receiver.may_pack(result):
                        yield await asyncio.to_thread(self._receiver.packed, result, model, parcel)
                    else:
                        yield result
            finally:
                following.close()


# Two at once: train() holds one thread to its end, and stop() must be heard meanwhile.
@ray.remote(max_concurrency=2)
class Trainer:
    """An actor that trains one run: it yields the run's records as they come, and can be stopped meanwhile."""

    def __init__(self, settings: Settings) -> None:
        use_all_cores()
        with suppress(OSError, AttributeError):  # other systems know no niceness
            os.nice(settings.run_niceness)
        self._settings = at_home(settings)
        self._stopping = threading.Event()

    def train(self, record: RunRecord, parcel: Parcel) -> Iterator[Any]:
        """Train to the end or to the Stop, from the last checkpoint if there is one. Raises the error that ends it.

        A record comes in a Brought if files have changed, and None if there is no news but that all is well.
        """
        with self._own_folder(record.run_id) as settings:
            receiver, records = Receiver(settings), SentRecords(settings)
            receiver.open(parcel)
            records.take(parcel.records)
            packed = receiver.while_training(record.run_id)
            yield from training(LocalEngine(settings, records), record, self._stopping, packed, BEAT_SECONDS)

    @contextmanager
    def _own_folder(self, run_id: str) -> Iterator[Settings]:
        """Yield settings with a folder of the run's own if the machines share none, and remove that folder at the end."""
        if not self._settings.files:
            yield self._settings
            return
        shelf = self._settings.data_folder / "training"
        # Left by runs whose process was killed.
        trim(shelf.glob("*/"), self._settings.runs_bytes)
        folder = shelf / run_id
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        adopt(own := replace(self._settings, data_folder=folder))
        try:
            yield own
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def stop(self) -> None:
        """Let the run finish its step and end."""
        self._stopping.set()
