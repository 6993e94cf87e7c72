"""The seam between pages and models: a page names a job, an executor runs it where the model is.

The local executor is one implementation; one that sends jobs to a cluster goes behind the same protocol.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from explorer.engine.computation import Following
from explorer.models.families import Capability
from explorer.runs.record import RunRecord
from explorer.tuning.spec import RunSpec

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


class Runs(Protocol):
    """The runs of this installation. `owner` is a visitor's secret name; all errors are ExplorerErrors."""

    def start(self, spec: RunSpec, owner: str) -> str:
        """Queue a run; its id."""
        ...

    def get(self, run_id: str) -> RunRecord:
        """A run as it stands; whoever knows its id may look."""
        ...

    def folder_of(self, run_id: str) -> Path:
        """Where a run's weights are on the machine that keeps them."""
        ...

    def list(self, owner: str) -> list[RunRecord]:
        """An owner's runs, newest first, then the bundled examples."""
        ...

    def stop(self, run_id: str, owner: str) -> None:
        """Stop a run of one's own; what it has learned is kept."""
        ...

    def resume(self, run_id: str, owner: str) -> None:
        """Go on with a run that ended early."""
        ...

    def delete(self, run_id: str, owner: str) -> None:
        """Forget a run of one's own and its weights."""
        ...

    def import_adapter(self, path: str, owner: str) -> str:
        """Keep an adapter from a file as a run; its id."""
        ...

    def is_lecturer(self, key: str) -> bool:
        """Whether a key opens everybody's runs."""
        ...


class Executor(Protocol):
    """Runs jobs. `params` are frozen dataclasses and results plain data, so both can cross to another machine."""

    @property
    def runs(self) -> Runs:
        """The runs that train here."""
        ...

    def follow(self, job: Job, params: Any, model: str = "") -> Following:
        """Look at a job's results as they come. Raises ExplorerError where a run that is named is not there.

        Equal questions about the same state of the same runs share one computation; what is known already comes at once.
        model: for a job on the chosen model.
        """
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


async def answer(executor: Executor, job: Job, params: Any, model: str = "") -> Any:
    """A job's last result, awaited. Raises ExplorerError; the work ends where the caller is cancelled and nobody else asks."""
    names_runs = job.on in ("runs", "resources")  # which are looked up in their database
    asked = (job, params, model)
    following = await asyncio.to_thread(executor.follow, *asked) if names_runs else executor.follow(*asked)
    try:
        return await asyncio.wrap_future(following.last)
    finally:
        following.close()
