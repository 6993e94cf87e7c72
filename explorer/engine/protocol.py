"""The protocol between pages and models: a page names a job, and an engine runs it where the model is.

One implementation computes on this machine, another sends the jobs to a cluster.
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
    """A job: a function named by its import path, so that a page need not import what the job needs.

    function: `module:name`. It returns a result, or is a generator of results if it takes a while
    (explorer.engine.computation lists what it may yield). needs: the capability that the model must have. on: what the
    function receives before the parameters: the chosen model, `open_run`, `open_tokenizer`, a Resources that opens all
    of these, or nothing. together: `module:name` of a function that answers several questions about one model as a
    batch; empty if there is none. light: whether the function's module imports neither torch nor transformers.

    Whoever puts a question again gets the answer that is kept, except one that says it `is_busy`: the machine had other work
    while it was measured.
    """

    function: str
    needs: Capability | None = None
    on: On = "model"
    together: str = ""
    light: bool = False


@dataclass(frozen=True)
class ModelStatus:
    """What a page tells about a model. parameters is exact once the model is in memory, else the catalog's rounded count."""

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
        """The manager of the runs that train here."""
        ...

    def follow(self, job: Job, params: Any, model: str = "") -> Subscription:
        """Follow a job's results as they come. Raises ExplorerError if a run that is named does not exist.

        Equal questions about the same state of the same runs share one computation; an answer that is known comes at
        once.

        model: the model's id, for a job on the chosen model.
        """
        ...

    def line(self, ago: float) -> Line:
        """Return what waits before a question that was asked `ago` seconds ago."""
        ...

    def prepare(self, model_id: str) -> Iterator[DownloadProgress]:
        """Make a model ready, downloading it if needed. Raises ExplorerError."""
        ...

    def status(self, model_id: str) -> ModelStatus:
        """Describe a model without loading it."""
        ...

    def warm_up(self, model_id: str) -> None:
        """Load the heavy libraries and a model in the background, before the first visitor needs them."""
        ...


async def answer(engine: Engine, job: Job, params: Any, model: str = "") -> Any:
    """Await a job's last result. Raises ExplorerError. The work ends if the caller is cancelled and nobody else asks for it."""
    # Runs are looked up in a database, which is too slow for the event loop.
    names_runs = job.on in ("runs", "resources")
    asked = (job, params, model)
    following = await asyncio.to_thread(engine.follow, *asked) if names_runs else engine.follow(*asked)
    try:
        return await asyncio.wrap_future(following.last)
    finally:
        following.close()
