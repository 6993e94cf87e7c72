"""The seam between pages and models: a page names a job, an engine runs it where the model is.

The local engine is one implementation; one that sends jobs to a cluster goes behind the same protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from explorer.engine.computation import Subscription
from explorer.engine.workers import Line
from explorer.models.families import Capability
from explorer.runs.protocol import Runs

On = Literal["model", "runs", "tokenizers", "resources", "nothing"]


@dataclass(frozen=True)
class Job:
    """A function by its import path, so that a page need not import what the job needs.

    function: `module:name`. It gives a result, or is a generator of results where it takes a while (see
    explorer.engine.computation for what it may yield). needs: what the model must be able to do. on: what the function is
    handed before the parameters: the chosen model, `open_run`, `open_tokenizer`, Resources, which open what the parameters
    name, or nothing.
    """

    function: str
    needs: Capability | None = None
    on: On = "model"
    together: str = ""


@dataclass(frozen=True)
class ModelStatus:
    """What a page says about a model. parameters is exact once the model is in memory, else the catalog's rounded count."""

    model_id: str
    family: str | None
    parameters: float | None
    capabilities: tuple[Capability, ...]
    on_this_machine: bool
    in_memory: bool
    device: str | None = None


@dataclass(frozen=True)
class DownloadProgress:
    """Bytes that have arrived and bytes in all (0 until known)."""

    done: int
    total: int


class Engine(Protocol):
    """Runs jobs. `params` are frozen dataclasses and results plain data, so both can cross to another machine."""

    @property
    def runs(self) -> Runs:
        """The runs that train here."""
        ...

    def follow(self, job: Job, params: Any, model: str = "") -> Subscription:
        """Look at a job's results as they come. Raises ExplorerError if a run that is named is not there.

        Equal questions about the same state of the same runs share one computation; what is known already comes at once.
        model: for a job on the chosen model.
        """
        ...

    def line(self, ago: float) -> Line:
        """What waits before a question that was asked so many seconds ago."""
        ...

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Make a model ready, fetching it where it must be; raises ExplorerError."""
        ...

    def status(self, model_id: str) -> ModelStatus:
        """What is known of a model without loading it."""
        ...

    def warm_up(self, model_id: str) -> None:
        """Load the heavy libraries and a model in the background, before the first visitor needs them."""
        ...


async def answer(engine: Engine, job: Job, params: Any, model: str = "") -> Any:
    """A job's last result, awaited. Raises ExplorerError; the work ends where the caller is cancelled and nobody else asks."""
    names_runs = job.on in ("runs", "resources")  # which are looked up in their database
    asked = (job, params, model)
    following = await asyncio.to_thread(engine.follow, *asked) if names_runs else engine.follow(*asked)
    try:
        return await asyncio.wrap_future(following.last)
    finally:
        following.close()
