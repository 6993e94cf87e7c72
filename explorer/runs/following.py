"""Following runs: what live actions yield, whatever lab they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from explorer.runs.protocol import Runs
from explorer.runs.record import RunRecord
from explorer.tasks.baseline import Baseline


@dataclass(frozen=True)
class Compared:
    """Runs side by side. missing: (method, why it cannot be had on this model). baseline: what counting words reaches."""

    records: tuple[RunRecord, ...]
    missing: tuple[tuple[str, str], ...] = ()
    baseline: Baseline | None = None


def follow(runs: Runs, run_id: str) -> Iterator[RunRecord | None]:
    """A run's record whenever it has changed, until it has ended."""
    version = -1
    while True:
        record = runs.get(run_id)
        yield record if record.version != version else None
        version = record.version
        if not record.status.is_active:
            return


def follow_all(
    runs: Runs, run_ids: tuple[str, ...], missing: tuple[tuple[str, str], ...] = ()
) -> Iterator[Compared | None]:
    """The records of several runs, until all have ended."""
    versions: list[int] = []
    while True:
        records = tuple(runs.get(run_id) for run_id in run_ids)
        now = [record.version for record in records]
        yield Compared(records, missing) if now != versions else None
        versions = now
        if not any(record.status.is_active for record in records):
            return
