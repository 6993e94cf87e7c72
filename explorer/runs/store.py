"""The store of runs: SQLite for the records, a folder for each run's weights. Both survive a restart."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import psutil

from explorer.errors import BadInputError, ExplorerError, StorageError, is_forbidden, storage_error
from explorer.runs.database import Copies, RunDatabase
from explorer.runs.examples import FIRST, OWNER
from explorer.runs.record import RunRecord, RunStatus, damaged
from explorer.shelf import remove

WEIGHTS = "weights.safetensors"
RESUME = "resume.safetensors"
ROW = "run_id, owner, created, record"
"""The columns that are read of a row."""

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, ExplorerError)
"""The exceptions that reading a damaged record raises."""

_RESTORE = "Whoever runs the server has to restore it from the repository; the other runs are not affected."
RUN_ID = re.compile(r"[a-z0-9][a-z0-9-]{5,40}")


@cache
def this_process() -> tuple[int, float]:
    """Return the process's number and start time: a number alone is used again after a restart."""
    return os.getpid(), psutil.Process().create_time()


def _is_alive(process: tuple[int, float]) -> bool:
    number, started = process
    if number == os.getpid():  # whose start is another one, by the system, once the clock is set
        return started == this_process()[1]
    try:
        return abs(psutil.Process(number).create_time() - started) < 1.0  # the clock may have been set since
    except psutil.Error:
        return False


class RunStore:
    """Records and folders below one data folder; `examples` is a folder of bundled runs, readable by everybody.

    A record that could not be written when its run had ended is owed: reads return it as it should be, and it is
    written as soon as that works.
    """

    def __init__(self, data_folder: Path, examples: Path | None = None) -> None:
        self.folder = data_folder / "runs"
        self._examples = examples
        self._copies = Copies(data_folder)
        self._database = RunDatabase(self.folder, self._copies.rows)
        self._copy_older()
        self._owed: dict[str, RunRecord | None] = {}
        """Records still to be written by run id; None if the record is to be deleted."""

    def _copy_older(self) -> None:
        """Copy every record of a database that is older than the copies."""
        if self._copies.folder.exists():
            return
        with suppress(StorageError):  # who needs the list is told
            for run_id, text in self._database.read("SELECT run_id, record FROM runs"):
                if RUN_ID.fullmatch(str(run_id)) and not self._copies.write(run_id, str(text)):
                    break

    @staticmethod
    def new_id() -> str:
        """Return an id that nobody guesses, since a link to a run is permission to look at it."""
        return "r" + secrets.token_hex(6)

    def now(self) -> float:
        """Return the time at which a run begins: just after the newest one's if the clock was set back, since lists are
        sorted by it.
        """
        ((newest,),) = self._database.read("SELECT max(created) FROM runs WHERE typeof(created) = 'real'")
        return max(time.time(), (newest or 0.0) + 0.001)

    @property
    def set_aside(self) -> str:
        """The name that a damaged list of runs has been given; empty if there was none."""
        return self._database.set_aside

    def save(self, record: RunRecord) -> None:
        """Write a record, new or changed. Raises StorageError."""
        self._write(record.run_id, record)
        self._owed.pop(record.run_id, None)
        self.settle()

    def _write(self, run_id: str, record: RunRecord | None) -> None:
        """Write a record, or delete it if it is None."""
        if record is None:
            self._database.write("DELETE FROM runs WHERE run_id = ?", (run_id,))
        else:
            row = (run_id, record.owner, record.status.value, record.created, record.to_json())
            self._database.write("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?)", row)
            self._copies.keep(record, row[-1])

    def keep(self, record: RunRecord) -> None:
        """Write the record of a run that has ended; if the disk does not take it now, it is owed."""
        try:
            self.save(record)
        except Exception as error:
            self._owe(record.run_id, record, error)

    def _owe(self, run_id: str, record: RunRecord | None, error: Exception) -> None:
        if run_id not in self._owed:
            logging.getLogger("explorer").error("the record of %s is to be written later: %s", run_id, error)
        self._owed[run_id] = record

    def settle(self) -> bool:
        """Write what is owed, as far as the disk takes it. Returns whether nothing is owed any more."""
        for run_id, record in list(self._owed.items()):
            try:
                self._write(run_id, record)
            except StorageError:  # the log has it since it was owed
                break
            if self._owed.get(run_id) is record:  # another thread may owe a newer one by now
                self._owed.pop(run_id, None)
        return not self._owed

    def find(self, run_id: str) -> RunRecord | None:
        """Return a record by its id; None if there is none. Raises StorageError if the database cannot be read."""
        if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
            return None
        example = self._example_records().get(run_id)
        if example is not None:
            return example
        # Also for None, of a run that is deleted but still in the database.
        if run_id in self._owed:
            return self._owed[run_id]
        rows = self._database.read(f"SELECT {ROW} FROM runs WHERE run_id = ?", (run_id,))
        return self._read(*rows[0]) if rows else None

    def owned_by(self, owner: str | None) -> list[RunRecord]:
        """Return one owner's runs (everybody's for None), newest first; if the database cannot be read, those not yet
        written to it.
        """
        query = f"SELECT {ROW} FROM runs WHERE ? IS NULL OR owner = ? ORDER BY created DESC, rowid DESC"
        # Before the rows are read: what is written meanwhile is then in both, and not in neither.
        owed = dict(self._owed)
        try:
            rows = self._database.read(query, (owner, owner))
        except StorageError as error:
            logging.getLogger("explorer").error("%s", error)
            return [record for record in owed.values() if record is not None and owner in (None, record.owner)]
        found = (owed.get(row[0]) if row[0] in owed else self._read(*row) for row in rows)
        return [record for record in found if record is not None]

    def oldest_first(self) -> list[tuple[str, str]]:
        """Return (run_id, owner) of every run in the database. Raises StorageError."""
        rows = self._database.read("SELECT run_id, owner FROM runs ORDER BY created, rowid")
        return [(str(run_id), str(owner)) for run_id, owner in rows if RUN_ID.fullmatch(str(run_id))]

    def examples(self) -> list[RunRecord]:
        """Return the bundled runs that lists show, the first visitor's one first."""
        records = [record for record in self._example_records().values() if record.listed]
        return sorted(records, key=lambda record: record.run_id != FIRST)

    def delete(self, run_id: str) -> None:
        """Delete a run and its folder.

        Raises StorageError if the data folder cannot be written; the run is then there as before.
        """
        # The folder comes first: on a full disk the record needs the room.
        try:
            shutil.rmtree(self.folder / run_id)
        except FileNotFoundError:
            pass
        except OSError as error:
            if is_forbidden(error):
                raise storage_error("This run", error, "deleted") from error
            remove(self.folder / run_id)
        try:
            self._write(run_id, None)
            self._owed.pop(run_id, None)
        except StorageError as error:
            if is_forbidden(error.__cause__ or error):
                raise
            self._owe(run_id, None, error)
        self._copies.forget(run_id)

    def folder_of(self, run_id: str) -> Path:
        """Return the folder of a run's weights. Raises BadInputError for what cannot be a run's id."""
        if not isinstance(run_id, str) or not RUN_ID.fullmatch(run_id):
            raise BadInputError(f"No run is called {str(run_id)[:60]!r}.")
        if run_id in self._example_records() and self._examples is not None:
            return self._examples / run_id
        return self.folder / run_id

    def _read(self, run_id: str, owner: str, created: float, text: str) -> RunRecord:
        """Read a row's record. If it says that it trains, but its process is gone, the run is interrupted from now on."""
        try:
            record = RunRecord.from_json(text)
            if (record.run_id, record.owner) != (run_id, owner):
                raise ValueError("it is another run's")
        except _UNREADABLE as error:
            return damaged(str(run_id), str(owner), created, error)
        if not record.status.is_active or _is_alive(record.process):
            return record
        resumable = (self.folder_of(record.run_id) / RESUME).exists()
        said = "press Resume to go on from the last checkpoint" if resumable else "press Resume to start it again"
        message = f"The server ended at step {record.step} of {record.steps or '?'}; {said}."
        lost = record.evolve(status=RunStatus.INTERRUPTED, message=message, place=0, seconds_left=None)
        row = (lost.status.value, lost.to_json(), lost.run_id, text)
        with suppress(StorageError):  # whoever looks next finds the same
            # AND record: unless another process has written a newer one.
            self._database.write("UPDATE runs SET status = ?, record = ? WHERE run_id = ? AND record = ?", row)
        return lost

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def _example_records(self) -> Mapping[str, RunRecord]:
        return read_examples(self._examples) if self._examples is not None else {}


@cache
def read_examples(folder: Path) -> dict[str, RunRecord]:
    """Read the worked examples' records, by id. A damaged one says so; it hides neither the others nor the visitors' runs."""
    found = {}
    for path in sorted(folder.glob("*/record.json")):
        try:
            found[path.parent.name] = RunRecord.from_json(path.read_text(encoding="utf-8"))
        except (OSError, *_UNREADABLE) as error:
            logging.getLogger("explorer").error("%s is damaged: %s", path, error)
            name = path.parent.name
            found[name] = damaged(name, OWNER, 0.0, error, f"assets/runs/{name}/{path.name}", _RESTORE)
    return found
