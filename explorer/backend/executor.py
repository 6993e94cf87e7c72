"""The seam between pages and models: a page names a job, an executor runs it where the model is.

The local executor is one implementation; one that sends jobs to a cluster goes behind the same protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from explorer.models.architectures import Capability


@dataclass(frozen=True)
class Job:
    """A function `(bundle, params) -> result` by its import path, so that a page need not import what the job needs.

    function: `module:name`. needs: what the model must be able to do.
    """

    function: str
    needs: Capability | None = None


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


class Executor(Protocol):
    """Runs jobs. `params` are frozen dataclasses and results plain data, so both can cross to another machine."""

    def submit(self, job: Job, model_id: str, params: Any) -> Future[Any]:
        """Start a job; the future carries its result or an ExplorerError."""
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
