"""Runs in another process than the one that keeps their records: which records are sent there, and how the newer ones
come back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import fields
from queue import Empty, SimpleQueue
from typing import Any

from explorer.engine.local import LocalEngine
from explorer.engine.resources import flat
from explorer.errors import ExplorerError
from explorer.models.catalog import made_by
from explorer.runs.manager import RunManager
from explorer.runs.record import RunRecord
from explorer.runs.store import RUN_ID, RunStore
from explorer.settings import BUNDLED_RUNS, Settings


def needed(runs: RunManager, model: str, params: Any) -> list[RunRecord]:
    """Return the records of the runs that a model or parameters name, and of the runs that these were made from."""
    values = [model, *flat([getattr(params, field.name) for field in fields(params)])]
    waiting = [text for text in values if isinstance(text, str)]
    found: dict[str, RunRecord] = {}
    while waiting:
        text = waiting.pop()
        run_id = made_by(text) or text
        # Most texts are a visitor's, and cannot name a run.
        record = _known(runs, run_id) if run_id not in found and RUN_ID.fullmatch(run_id) else None
        if record is not None:
            found[run_id] = record
            waiting += [record.spec.teacher, record.spec.after, record.spec.model]
    return list(found.values())


def _known(runs: RunManager, run_id: str) -> RunRecord | None:
    with suppress(ExplorerError):
        return runs.get(run_id)
    return None


class SentRecords(RunStore):
    """The records that came with questions, in place of a database: the one below the folder is not touched."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.data_folder, BUNDLED_RUNS)
        self._sent: dict[str, RunRecord] = {}

    def take(self, records: Iterable[RunRecord]) -> None:
        """Keep the newest record of each run."""
        for record in records:
            known = self._sent.get(record.run_id)
            if known is None or known.version <= record.version:
                self._sent[record.run_id] = record

    def find(self, run_id: str) -> RunRecord | None:
        """Return a record that was sent, or that of a bundled run."""
        return self._sent.get(run_id) or self._example_records().get(run_id)


def training(
    engine: LocalEngine,
    record: RunRecord,
    stopping: threading.Event,
    packed: Callable[[RunRecord], Any] = lambda newer: newer,
    beat: float | None = None,
) -> Iterator[Any]:
    """Train a run and yield its records as they come, to its end or to the Stop. Raises the error that ends it.

    packed: turns a record into what is sent, before the run goes on. beat: if given, None is yielded whenever that many
    seconds bring no record.
    """
    said: SimpleQueue[Any] = SimpleQueue()
    ended = object()

    def work() -> None:
        try:
            # Packed here, in the run's thread, before training writes to its files again.
            engine.train(record, lambda newer: said.put(packed(newer)), stopping)
        except BaseException as error:
            said.put(error)
        else:
            said.put(ended)

    threading.Thread(target=work, daemon=True).start()
    while True:
        try:
            one = said.get(timeout=beat)
        except Empty:
            yield None
            continue
        if one is ended:
            return
        if isinstance(one, BaseException):
            raise one
        yield one
