"""What works on the cluster's machines: replicas that answer questions, and an actor for each run that trains.

Each is this machine's engine, with the records that come along with a question in place of a database: only the front writes.
The data folder, with the runs' weights and the uploads, is one that all machines see.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import ray
from ray import serve

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.engine.sent import SentRecords, training
from explorer.runs.record import RunRecord
from explorer.settings import Settings

LOOK_SECONDS = 0.02
"""Between two looks at a computation that isn't over."""

MODELS = 8
"""Of which a replica remembers that it has them in memory."""


@dataclass(frozen=True)
class Nothing:
    """Parameters of a job that has none."""


def loaded(bundle: Any, params: Nothing) -> bool:
    """Nothing but having the model in memory."""
    return True


def use_all_cores() -> None:
    """Let torch compute as it does without Ray, which gives a process one thread for each CPU that it asks for."""
    import torch

    torch.set_num_threads(os.cpu_count() or 1)


@serve.deployment(max_ongoing_requests=64)
class Answers:
    """A replica: answers questions, and is asked first about the models that it has in memory."""

    def __init__(self, settings: Settings) -> None:
        use_all_cores()
        self._records = SentRecords(settings)
        self._engine = LocalEngine(settings, self._records)

    @serve.multiplexed(max_num_models_per_replica=MODELS)  # type: ignore[untyped-decorator]
    async def _model(self, model_id: str) -> str:
        """Have a model in memory; its own memory limit decides how long it stays."""
        await asyncio.to_thread(self._engine.store.get, model_id)
        return model_id

    async def follow(self, job: Job, params: Any, model: str, records: list[RunRecord]) -> AsyncIterator[Any]:
        """A job's results as they come."""
        self._records.take(records)
        if model:
            await self._model(model)
        following = await asyncio.to_thread(self._engine.follow, job, params, model)
        ended, last = object(), asyncio.wrap_future(following.last)
        try:
            while (result := next(following, ended)) is not ended:
                if result is None:
                    await asyncio.wait({last}, timeout=LOOK_SECONDS)
                else:
                    yield result
        finally:
            following.close()


@ray.remote(max_concurrency=2)
class Trainer:
    """One run while it trains: gives its records as they come, and hears a Stop meanwhile."""

    def __init__(self, settings: Settings) -> None:
        use_all_cores()
        with suppress(OSError, AttributeError):  # other systems know no niceness
            os.nice(settings.run_niceness)
        self._records = SentRecords(settings)
        self._engine = LocalEngine(settings, self._records)
        self._stopping = threading.Event()

    def train(self, record: RunRecord, records: list[RunRecord]) -> Iterator[RunRecord]:
        """Train to the end or to the Stop, from the last checkpoint where there is one. Raises what ends it."""
        self._records.take([record, *records])
        yield from training(self._engine, record, self._stopping)

    def stop(self) -> None:
        """Let the run finish its step and end."""
        self._stopping.set()
