"""Following runs: what live actions yield, whatever lab they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from explorer.errors import BadInputError, ExplorerError
from explorer.runs.protocol import Runs
from explorer.runs.record import RunRecord
from explorer.tasks.baseline import Baseline
from explorer.tuning.methods import find_method
from explorer.tuning.spec import RunSpec

Missing = tuple[tuple[str, str], ...]
"""What cannot be had on a model, and why."""


@dataclass(frozen=True)
class Compared:
    """Runs side by side. missing: (method, why it cannot be had on this model). baseline: what counting words reaches.

    again: the same runs with other seeds, where these were trained as well.
    """

    records: tuple[RunRecord, ...]
    missing: Missing = ()
    baseline: Baseline | None = None
    again: tuple[RunRecord, ...] = ()


def follow(runs: Runs, run_id: str) -> Iterator[RunRecord | None]:
    """A run's record whenever it has changed, until it has ended."""
    version = -1
    while True:
        record = runs.get(run_id)
        yield record if record.version != version else None
        version = record.version
        if not record.status.is_active:
            return


def start_all(
    runs: Runs,
    specs: Iterable[RunSpec],
    owner: str,
    title: Callable[[RunSpec], str] = lambda spec: find_method(spec.method).title,
) -> tuple[tuple[str, ...], Missing]:
    """Start the runs that this model can have: their ids, and (title, reason) of the others, each said once.

    Raises BadInputError where it can have none.
    """
    started, missing = list[str](), dict[tuple[str, str], None]()
    for spec in specs:
        try:
            started.append(runs.start(spec, owner))
        except ExplorerError as error:
            missing[title(spec), str(error)] = None
    if not started:
        raise BadInputError(next(iter(missing))[1])
    return tuple(started), tuple(missing)


def follow_all(runs: Runs, run_ids: tuple[str, ...], missing: Missing = ()) -> Iterator[Compared | None]:
    """The records of several runs, until all have ended."""
    versions: list[int] = []
    while True:
        records = tuple(runs.get(run_id) for run_id in run_ids)
        now = [record.version for record in records]
        yield Compared(records, missing) if now != versions else None
        versions = now
        if not any(record.status.is_active for record in records):
            return
