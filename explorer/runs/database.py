"""The SQLite file that holds the records of runs, its journal mode, and a second copy of each record beside it."""

from __future__ import annotations

import json
import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from explorer.errors import StorageError, storage_error
from explorer.runs.record import RunRecord, RunStatus

FILE = "runs.sqlite"
_COLUMNS = "run_id, owner, status, created, record"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  run_id TEXT PRIMARY KEY, owner TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL, record TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_by_owner ON runs (owner, created);
"""
_ADD = "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?)"
_REFUSED = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_WAIT_SECONDS = 30

Result = TypeVar("Result")


class RunDatabase:
    """A table of (run_id, owner, status, created, record). Safe for threads, and shared with other processes by
    SQLite's locks.

    A folder that cannot be written is read all the same. A file that is no database, or is damaged, gets another name
    (`set_aside`); a new file begins with `copies`, rows that are kept elsewhere, and what else can be read of the
    damaged one. All other failures are StorageErrors.
    """

    def __init__(self, folder: Path, copies: Callable[[], Iterable[Sequence[Any]]] = tuple) -> None:
        self.path, self._copies = folder / FILE, copies
        self.set_aside = ""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        with suppress(StorageError):  # who needs the file is told
            self.read("SELECT 1")

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """Return all rows that a query finds. Raises StorageError."""

        def ask(connection: sqlite3.Connection) -> list[Any]:
            with closing(connection.execute(query, values)) as rows:
                return rows.fetchall()

        return self._with(ask, "read")

    def write(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run one statement in a transaction of its own. Raises StorageError."""

        def change(connection: sqlite3.Connection) -> None:
            with connection:
                connection.execute(statement, values)

        self._with(change, "written")

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _with(self, work: Callable[[sqlite3.Connection], Result], verb: str) -> Result:
        with self._lock:
            for attempt in (1, 2):
                try:
                    if self._connection is None:
                        self._connection = self._open()
                    return work(self._connection)
                except (OSError, sqlite3.Error) as error:
                    if attempt == 1 and _is_damage(error):
                        self._set_aside()
                        continue
                    if _is_refusal(error):
                        self._close()  # it may have been opened when the folder could not be written, and now it can
                        if attempt == 1:
                            continue
                    raise storage_error(f"The list of runs (runs/{FILE})", error, verb) from error
        raise AssertionError("the second attempt returns or raises")

    def _open(self) -> sqlite3.Connection:
        try:
            return self._writable()
        except (OSError, sqlite3.OperationalError) as error:
            if not (_is_refusal(error) and self.path.is_file()):
                raise
            # the second without the log, for which the first needs a file
            for how in ("mode=ro", "mode=ro&immutable=1"):
                with suppress(sqlite3.Error):
                    connection = _connect(f"{self.path.as_uri()}?{how}")
                    connection.execute("SELECT 1 FROM runs").close()
                    return connection
            raise

    def _writable(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # SQLite creates an empty file before its first write.
        new = not self.path.exists() or not self.path.stat().st_size
        connection = _connect(str(self.path))
        try:
            with connection:
                connection.execute(f"PRAGMA journal_mode={journal_mode(self.path.parent)}")
                connection.executescript(_SCHEMA)
                if new:
                    connection.executemany(_ADD, self._copies())
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _set_aside(self) -> None:
        """Rename the damaged file, begin a new one with the copies, and add the rows that can still be read of the old one."""
        self._close()
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = next(
            name
            for name in (f"{FILE}.damaged-{stamp}{more}" for more in ("", *"abcdefgh"))
            if not self._beside(name).exists()
        )
        try:
            # The write-ahead log belongs to the damaged file, and would be applied to the new one.
            for ending in ("", "-wal", "-shm"):
                if self._beside(FILE + ending).exists():
                    self._beside(FILE + ending).rename(self._beside(name + ending))
            rows = _readable_rows(self._beside(name))
            self._connection = self._open()
            with self._connection as connection:
                connection.executemany(_ADD, rows)  # OR IGNORE: a copy that is there already wins
                ((kept,),) = connection.execute("SELECT count(*) FROM runs").fetchall()
        except (OSError, sqlite3.Error) as error:
            raise storage_error(f"The list of runs (runs/{FILE}) is damaged; it", error, "set aside") from error
        self.set_aside = name
        logging.getLogger("explorer").error(
            "%s is damaged: it is now called %s, and a new list begins with the %d runs that have a copy or could be read",
            self.path, name, kept,
        )  # fmt: skip

    def _beside(self, name: str) -> Path:
        return self.path.with_name(name)


def _connect(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, check_same_thread=False, timeout=_WAIT_SECONDS, uri=name.startswith("file:"))
    # Bytes that are no UTF-8, as in a damaged file, are read as replacement characters.
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _is_damage(error: Exception) -> bool:
    """Return whether the file itself is at fault, and not the disk, the permissions or another process that holds it."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED  # the low byte is the primary code, the rest of it says more


def _is_refusal(error: Exception) -> bool:
    """Return whether the folder cannot be written."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _REFUSED  # None: an OSError from making the folder


def _readable_rows(path: Path) -> list[Any]:
    rows: list[Any] = []
    with suppress(sqlite3.Error), closing(_connect(f"{path.as_uri()}?mode=ro")) as old:
        for row in old.execute(f"SELECT {_COLUMNS} FROM runs"):
            rows.append(row)  # one by one: a damaged file fails midway, and what came before is kept
    return rows


# How SQLite keeps its journal, chosen by the file system that a folder lies on.

MOUNTS = Path("/proc/self/mounts")
_NETWORK = re.compile(r"fuse(\..+|blk)?|nfs\d?|cifs|smb\d?|9p|afs|ceph|lustre|glusterfs|virtiofs")


def journal_mode(folder: Path, mounts: Path = MOUNTS) -> str:
    """Return the value for `PRAGMA journal_mode`: DELETE on a network mount, as a Space's storage is, and WAL
    elsewhere.

    mounts: a table like Linux's /proc/self/mounts; without one, as on macOS, the folder counts as local.
    """
    try:
        table = mounts.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "WAL"
    # WAL shares memory between processes by a file beside the records, which network file systems don't offer.
    return "DELETE" if _NETWORK.fullmatch(_file_system(folder.resolve(), table)) else "WAL"


def _file_system(folder: Path, table: str) -> str:
    """Return the type of the mount that holds the folder: the deepest one, and of several at one place the last."""
    deepest, found = -1, ""
    for line in table.splitlines():
        words = line.split(" ")
        if len(words) < 3:
            continue
        place = Path(_plain(words[1]))
        if folder.is_relative_to(place) and len(place.parts) >= deepest:
            deepest, found = len(place.parts), words[2]
    return found


def _plain(name: str) -> str:
    """Replace the octal escapes by which the table writes blanks, tabs and backslashes in a mount's folder."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), name)


# A second copy of each run's record, in a file of its own: from these a list that is damaged or gone is made again.

FOLDER = "records"
"""A folder beside that of the runs, in which each folder is a run's."""

Row = tuple[str, str, str, float, str]
"""run_id, owner, status, created and the record as JSON: a row of the database."""


class Copies:
    """Copies of records as files below a data folder. That of a run that trains is written with each status and
    checkpoint only.
    """

    def __init__(self, data_folder: Path) -> None:
        self.folder = data_folder / FOLDER
        self._kept: dict[str, tuple[RunStatus, int]] = {}
        """The state of each active run whose copy was written last."""

    def keep(self, record: RunRecord, text: str) -> None:
        """Write a record, whose JSON is `text`. A failure is logged only, since the database still has the record."""
        state = (record.status, record.saved)
        if self._kept.get(record.run_id) == state:
            return
        if self.write(record.run_id, text) and record.status.is_active:
            self._kept[record.run_id] = state
        else:
            self._kept.pop(record.run_id, None)

    def write(self, run_id: str, text: str) -> bool:
        """Write one file, whole or not at all. Returns whether that worked."""
        path = self.folder / f"{run_id}.json"
        part = path.with_suffix(".part")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            part.write_text(text, encoding="utf-8")
            os.replace(part, path)
        except OSError as error:
            logging.getLogger("explorer").warning("no copy of the record of %s could be kept: %s", run_id, error)
            return False
        return True

    def forget(self, run_id: str) -> None:
        """Remove the copy of a run that was deleted."""
        self._kept.pop(run_id, None)
        try:
            (self.folder / f"{run_id}.json").unlink(missing_ok=True)
        except OSError as error:
            logging.getLogger("explorer").warning("the copy of the record of %s stays: %s", run_id, error)

    def rows(self) -> Iterator[Row]:
        """Yield every copy that can be read, as a row of the database."""
        for path in sorted(self.folder.glob("*.json")):
            try:
                text = path.read_text(encoding="utf-8")
                found = json.loads(text)
                row = (path.stem, str(found["owner"]), str(found["status"]), float(found["created"]), text)
            except (OSError, ValueError, LookupError, TypeError) as error:
                logging.getLogger("explorer").warning("%s cannot be read: %s", path, error)
                continue
            yield row
