"""The SQLite file that holds the records of runs: opened when it is needed, set aside where it is damaged."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, TypeVar

from explorer.errors import StorageError, storage_error
from explorer.runs.journal import journal_mode

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
    """Rows of (run_id, owner, status, created, record). Safe for threads, and shared with other processes by SQLite's locks.

    A folder that may not be written is read all the same. A file that is no database, or a damaged one, gets another name
    (`set_aside`). A new file begins with `copies`, rows that are kept elsewhere, and what else can be read of the damaged one.
    All other failures are StorageErrors.
    """

    def __init__(self, folder: Path, copies: Callable[[], Iterable[Sequence[Any]]] = tuple) -> None:
        self.path, self._copies = folder / FILE, copies
        self.set_aside = ""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        with suppress(StorageError):  # who needs the file is told
            self.read("SELECT 1")

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows that a query finds. Raises StorageError."""

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
        """Let the file go; the next call opens it again."""
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
        """Give the damaged file another name, begin a new one, and take over what the copies lack."""
        self._close()
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = next(
            name
            for name in (f"{FILE}.damaged-{stamp}{more}" for more in ("", *"abcdefgh"))
            if not self._beside(name).exists()
        )
        try:
            for ending in ("", "-wal", "-shm"):
                if self._beside(FILE + ending).exists():
                    self._beside(FILE + ending).rename(self._beside(name + ending))
            rows = _readable_rows(self._beside(name))
            self._connection = self._open()
            with self._connection as connection:
                connection.executemany(_ADD, rows)
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
    connection.text_factory = lambda text: text.decode("utf-8", "replace")
    return connection


def _is_damage(error: Exception) -> bool:
    """Whether the file itself is at fault, and not the disk, the permissions or another process that holds it."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED


def _is_refusal(error: Exception) -> bool:
    """Whether the folder may not be written."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _REFUSED


def _readable_rows(path: Path) -> list[Any]:
    rows: list[Any] = []
    with suppress(sqlite3.Error), closing(_connect(f"{path.as_uri()}?mode=ro")) as old:
        for row in old.execute(f"SELECT {_COLUMNS} FROM runs"):
            rows.append(row)
    return rows
