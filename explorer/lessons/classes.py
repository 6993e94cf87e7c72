"""The classes that follow a lesson: who has joined, where the lecturer is, and what was answered.

Everything is in a database, and an answer is in it before it is confirmed, so that a restart of the server loses none. Nothing
about a person is kept: a student is a number and a random name that their browser has. A class is gone after a day.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.errors import BadInputError, storage_error
from explorer.lessons.schema import Answer, Lesson
from explorer.runs.database import journal_mode

DAY = 24 * 3600
CODE_LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Letters of a code; none that is taken for another on a projector."""

CODE_LENGTH = 5
MOST_CLASSES, MOST_STUDENTS = 300, 1000
LONGEST_WORD = 40

_TABLES = """
CREATE TABLE IF NOT EXISTS classes
  (code TEXT PRIMARY KEY, key TEXT NOT NULL, lesson TEXT NOT NULL, step INTEGER NOT NULL, revealed INTEGER NOT NULL,
   made REAL NOT NULL);
CREATE TABLE IF NOT EXISTS students (code TEXT NOT NULL, name TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (code, name));
CREATE TABLE IF NOT EXISTS answers
  (code TEXT NOT NULL, step INTEGER NOT NULL, number INTEGER NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL,
   PRIMARY KEY (code, step, number));
"""


class NoClassError(BadInputError):
    """There is no class of this code, or it is over."""


class AnsweredError(BadInputError):
    """The student has answered this step before."""


class NotTheLecturerError(BadInputError):
    """Whoever asks has not opened this class."""


@dataclass(frozen=True)
class ClassState:
    """Where a class is. step: from 0. revealed: whether the answer of that step shows; it stays so when the class comes back."""

    code: str
    lesson: Lesson
    step: int
    revealed: bool


@dataclass(frozen=True)
class Given:
    """One answer. number: the student's, from 1. at: seconds since 1970."""

    step: int
    number: int
    answer: str
    at: float


class Classes:
    """The classes of one server, in a file. clock: the time in seconds."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self.path, self.clock = path, clock
        self._lock = threading.Lock()
        self._opened: sqlite3.Connection | None = None

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Give the database to one at a time, and write what was changed before anybody hears of it."""
        with self._lock:
            try:
                self._opened = self._opened or self._open()
                with self._opened:
                    self._forget(self._opened)
                    yield self._opened
            except (sqlite3.Error, OSError) as error:
                raise storage_error(f"The list of classes ({self.path})", error) from error

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        opened = sqlite3.connect(self.path, check_same_thread=False)
        opened.execute(f"PRAGMA journal_mode={journal_mode(self.path.parent)}")
        opened.execute("PRAGMA secure_delete=ON")
        opened.executescript(_TABLES)
        return opened

    def _forget(self, database: sqlite3.Connection) -> None:
        """Remove every class that is a day old, with all that belongs to it."""
        old = [code for (code,) in database.execute("SELECT code FROM classes WHERE made < ?", [self.clock() - DAY])]
        for code in old:
            for table in ("answers", "students", "classes"):
                database.execute(f"DELETE FROM {table} WHERE code = ?", [code])

    def forget(self) -> None:
        """Remove what is a day old, now and, as long as there is any class, whenever one has become so."""
        if not self.path.exists():
            return
        with self._database() as database:
            (oldest,) = database.execute("SELECT min(made) FROM classes").fetchone()
        if oldest is not None:
            timer = threading.Timer(max(60.0, oldest + DAY - self.clock()), self.forget)
            timer.daemon = True
            timer.start()

    def open(self, lesson: Lesson) -> tuple[str, str]:
        """Open a class. Returns its code, for the students, and its key, for the lecturer alone. Raises BadInputError."""
        key = secrets.token_urlsafe(18)
        with self._database() as database:
            (open_now,) = database.execute("SELECT count(*) FROM classes").fetchone()
            if open_now >= MOST_CLASSES:
                raise BadInputError(
                    f"{MOST_CLASSES} classes are open on this server. Each ends after a day; try again later."
                )
            code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
            database.execute(
                "INSERT INTO classes VALUES (?, ?, ?, 0, 0, ?)",
                [code, _digest(key), lesson.model_dump_json(exclude_defaults=True), self.clock()],
            )
        return code, key

    def state(self, code: str) -> ClassState:
        """Return where a class is. Raises NoClassError."""
        with self._database() as database:
            return _state(database, code)

    def turn(self, code: str, key: str, step: int, revealed: bool) -> ClassState:
        """Lead the class to a step, or show its answer. Raises NoClassError, NotTheLecturerError, BadInputError."""
        with self._database() as database:
            state = _state(database, code, key)
            if not 0 <= step < len(state.lesson.steps):
                raise BadInputError(f"This lesson has steps 1 to {len(state.lesson.steps)}.")
            shows = 1 << step if revealed else 0  # a bit for each step
            database.execute(
                "UPDATE classes SET step = ?, revealed = revealed | ? WHERE code = ?", [step, shows, state.code]
            )
            return _state(database, state.code)

    def join(self, code: str, name: str = "") -> tuple[str, int]:
        """Let a student in. name: the one that their browser has from before. Returns their name and number.

        Raises NoClassError, BadInputError.
        """
        with self._database() as database:
            code = _state(database, code).code
            number = _number_of(database, code, name)
            if number is not None:
                return name, number
            (here,) = database.execute("SELECT count(*) FROM students WHERE code = ?", [code]).fetchone()
            if here >= MOST_STUDENTS:
                raise BadInputError(f"This class has {MOST_STUDENTS} students already.")
            name = secrets.token_urlsafe(12)
            database.execute("INSERT INTO students VALUES (?, ?, ?)", [code, name, here + 1])
        return name, here + 1

    def number_of(self, code: str, name: str) -> int:
        """Return a student's number. Raises BadInputError for a name that this class hasn't given."""
        with self._database() as database:
            number = _number_of(database, code.upper(), name)
        if number is None:
            raise BadInputError("Join the class first, by its code.")
        return number

    def answer(self, code: str, name: str, step: int, said: Any) -> Given:
        """Take a student's answer to the step that the class is at. Raises NoClassError, AnsweredError, BadInputError."""
        with self._database() as database:
            state = _state(database, code)
            number = _number_of(database, state.code, name)
            if number is None:
                raise BadInputError("Join the class first, by its code.")
            asked = state.lesson.steps[state.step].answer
            if step != state.step or asked is None:
                raise BadInputError("The class has gone on to another question.")
            if state.revealed:
                raise BadInputError("The answer shows already, so this guess comes too late.")
            given = Given(step, number, read_answer(asked, said), self.clock())
            try:
                database.execute(
                    "INSERT INTO answers VALUES (?, ?, ?, ?, ?)", [state.code, step, number, given.answer, given.at]
                )
            except sqlite3.IntegrityError:
                raise AnsweredError("You have answered this question; the first answer counts.") from None
        return given

    def answers(self, code: str) -> list[Given]:
        """Return all answers of a class, in the order in which they came."""
        with self._database() as database:
            rows = database.execute(
                "SELECT step, number, answer, at FROM answers WHERE code = ? ORDER BY at", [code.upper()]
            )
            return [Given(*row) for row in rows]

    def students(self, code: str) -> int:
        """Return how many have joined."""
        with self._database() as database:
            (here,) = database.execute("SELECT count(*) FROM students WHERE code = ?", [code.upper()]).fetchone()
            return int(here)

    def is_lecturer(self, code: str, key: str) -> bool:
        """Return whether a key is the one with which the class was opened. Raises NoClassError."""
        with self._database() as database:
            try:
                _state(database, code, key)
            except NotTheLecturerError:
                return False
            return True


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()


def _state(database: sqlite3.Connection, code: str, key: str | None = None) -> ClassState:
    """Return where a class is; with a key, to its lecturer alone."""
    row = database.execute(
        "SELECT code, key, lesson, step, revealed FROM classes WHERE code = ?", [code.upper()]
    ).fetchone()
    if row is None:
        raise NoClassError(
            f"There is no class {code.upper()[:20]!r}. Look at the code again; a class is over after a day."
        )
    if key is not None and not secrets.compare_digest(row[1], _digest(key)):
        raise NotTheLecturerError("Only the browser in which this class was opened can do that.")
    return ClassState(row[0], Lesson.model_validate(json.loads(row[2])), row[3], bool(row[4] >> row[3] & 1))


def _number_of(database: sqlite3.Connection, code: str, name: str) -> int | None:
    row = database.execute("SELECT number FROM students WHERE code = ? AND name = ?", [code, name]).fetchone()
    return None if row is None else int(row[0])


def read_answer(asked: Answer, said: Any) -> str:
    """Return an answer as it is kept. Raises BadInputError for one that isn't of the question's kind."""
    text = " ".join(str(said).split())[: LONGEST_WORD * 10]
    if asked.kind == "choice":
        if text not in asked.choices:
            raise BadInputError("Choose one of the answers.")
        return text
    if asked.kind == "number":
        try:
            number = float(text.removesuffix("%").replace(",", "."))
        except ValueError:
            number = float("nan")
        if not abs(number) < 1e15:
            raise BadInputError("Answer with a number, such as 40.")
        return f"{number:.10g}"
    if not text or len(text) > LONGEST_WORD:
        raise BadInputError(f"Answer with one word, of {LONGEST_WORD} letters at most.")
    return text
