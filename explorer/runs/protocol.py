"""The protocol of an installation's runs, wherever they train."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from explorer.runs.record import RunRecord
from explorer.tuning.spec import RunSpec


@dataclass(frozen=True)
class Adapter:
    """A file that a visitor has uploaded, and the id of the run that it becomes."""

    file: Path
    name: str
    owner: str


class Runs(Protocol):
    """The runs of this installation. `owner` is a visitor's secret name; all errors are ExplorerErrors."""

    def start(self, spec: RunSpec, owner: str) -> str:
        """Queue a run and return its id."""
        ...

    def get(self, run_id: str) -> RunRecord:
        """Return a run's current record; whoever knows the id may see it."""
        ...

    def folder_of(self, run_id: str) -> Path:
        """Return where a run's weights are on the machine that keeps them."""
        ...

    def list(self, owner: str) -> list[RunRecord]:
        """Return an owner's runs, newest first, then the bundled examples."""
        ...

    def stop(self, run_id: str, owner: str) -> None:
        """Stop a run of one's own and keep what it has learned."""
        ...

    def resume(self, run_id: str, owner: str) -> None:
        """Go on with a run that ended early."""
        ...

    def delete(self, run_id: str, owner: str) -> None:
        """Remove a run of one's own and its weights."""
        ...

    def import_adapter(self, path: str, owner: str) -> str:
        """Keep an adapter from a file as a run and return its id."""
        ...

    def is_lecturer(self, key: str) -> bool:
        """Return whether a key opens everybody's runs."""
        ...
