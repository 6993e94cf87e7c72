"""Where runs are kept: SQLite for the records, a folder a run for its weights. Both survive a restart."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path

import psutil

from explorer.backend.runs.examples import FIRST
from explorer.backend.runs.record import RunRecord, RunStatus
from explorer.errors import BadInputError

WEIGHTS = "weights.safetensors"
RESUME = "resume.safetensors"
_RUN_ID = re.compile(r"[a-z0-9][a-z0-9-]{5,40}")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  run_id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL, record TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_by_owner ON runs (owner, created);
"""


@cache
def this_process() -> tuple[int, float]:
    """The process's number and start time: a number alone is used again after a restart."""
    return os.getpid(), psutil.Process().create_time()


def _is_alive(process: tuple[int, float]) -> bool:
    number, started = process
    try:
        return abs(psutil.Process(number).create_time() - started) < 1.0
    except psutil.Error:
        return False


class RunStore:
    """Records and folders below one data folder; `examples` is a folder of bundled runs, readable by everybody."""

    def __init__(self, data_folder: Path, examples: Path | None = None) -> None:
        self.folder = data_folder / "runs"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._examples = examples
        self._lock = threading.Lock()
        self._database = sqlite3.connect(self.folder / "runs.sqlite", check_same_thread=False, timeout=30)
        with self._lock, self._database:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.executescript(_SCHEMA)

    @staticmethod
    def new_id() -> str:
        """A name that nobody guesses; a link to a run is permission to look at it."""
        return "r" + secrets.token_hex(6)

    def save(self, record: RunRecord) -> None:
        """Write a record, new or changed."""
        row = (record.run_id, record.owner, record.status.value, record.created, record.to_json())
        with self._lock, self._database:
            self._database.execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", row)

    def find(self, run_id: str) -> RunRecord | None:
        """A record by its name; None where there is none."""
        if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id):
            return None
        with self._lock, closing(self._database.execute("SELECT record FROM runs WHERE run_id = ?", (run_id,))) as rows:
            row = rows.fetchone()
        if row is not None:
            return self._read(row[0])
        return self._example_records().get(run_id)

    def owned_by(self, owner: str | None) -> list[RunRecord]:
        """One owner's runs (everybody's for None), newest first."""
        query = "SELECT record FROM runs WHERE ? IS NULL OR owner = ? ORDER BY created DESC, rowid DESC"
        with self._lock, closing(self._database.execute(query, (owner, owner))) as rows:
            found = rows.fetchall()
        return [self._read(row[0]) for row in found]

    def examples(self) -> list[RunRecord]:
        """The bundled runs that lists show, the one to begin with first."""
        records = [record for record in self._example_records().values() if record.listed]
        return sorted(records, key=lambda record: record.run_id != FIRST)

    def delete(self, run_id: str) -> None:
        """Forget a run and its folder."""
        with self._lock, self._database:
            self._database.execute("DELETE FROM runs WHERE run_id = ?", (run_id,))
        shutil.rmtree(self.folder / run_id, ignore_errors=True)

    def folder_of(self, run_id: str) -> Path:
        """Where a run's weights are. Raises BadInputError for what cannot be a run's name."""
        if not isinstance(run_id, str) or not _RUN_ID.fullmatch(run_id):
            raise BadInputError(f"No run is called {str(run_id)[:60]!r}.")
        if run_id in self._example_records() and self._examples is not None:
            return self._examples / run_id
        return self.folder / run_id

    def _read(self, text: str) -> RunRecord:
        """A row's record; where it says that it trains, and its process is no more, it is interrupted from now on."""
        record = RunRecord.from_json(text)
        if not record.status.is_active or _is_alive(record.process):
            return record
        resumable = (self.folder_of(record.run_id) / RESUME).exists()
        said = "press Resume to go on from the last checkpoint" if resumable else "press Resume to start it again"
        message = f"The server ended at step {record.step} of {record.steps or '?'}; {said}."
        lost = record.but(status=RunStatus.INTERRUPTED, message=message, place=0, seconds_left=None)
        row = (lost.status.value, lost.to_json(), lost.run_id, text)
        with self._lock, self._database:
            self._database.execute("UPDATE runs SET status = ?, record = ? WHERE run_id = ? AND record = ?", row)
        return lost

    def close(self) -> None:
        """Let the database go."""
        with self._lock:
            self._database.close()

    def _example_records(self) -> Mapping[str, RunRecord]:
        return _read_examples(self._examples) if self._examples is not None else {}


@cache
def _read_examples(folder: Path) -> dict[str, RunRecord]:
    found = sorted(folder.glob("*/record.json"))
    return {path.parent.name: RunRecord.from_json(path.read_text(encoding="utf-8")) for path in found}
