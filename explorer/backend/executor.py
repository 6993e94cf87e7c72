"""The seam between pages and models: a page names a job, an executor runs it where the model is.

The local executor is one implementation; one that sends jobs to a cluster goes behind the same protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from explorer.backend.runs.record import RunRecord
from explorer.models.architectures import Capability
from explorer.tuning.spec import RunSpec


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

    def submit_for_runs(self, job: Job, params: Any) -> Future[Any]:
        """Start a job on kept runs: `(open_run, params) -> result`, where params name them in fields beginning in run."""
        ...

    def submit_for_tokenizers(self, job: Job, params: Any) -> Future[Any]:
        """Start a job on tokenizers without their models: `(open_tokenizer, params) -> result`; it names those it opens."""
        ...

    def submit_alone(self, job: Job, params: Any) -> Future[Any]:
        """Start a job that looks at no model's weights: `params -> result`."""
        ...

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
