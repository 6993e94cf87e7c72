"""A class keeps every answer, one a student, through a restart and for a day; only its lecturer leads it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from explorer.errors import BadInputError, StorageError
from explorer.lessons.classes import (
    CODE_LENGTH,
    CODE_LETTERS,
    DAY,
    AnsweredError,
    Classes,
    NoClassError,
    NotTheLecturerError,
    read_answer,
)
from explorer.lessons.hub import counted
from explorer.lessons.schema import Answer, Lesson
from explorer.settings import ROOT
from tests.rows import each_row

STUDENTS = 60
LESSON = Lesson.model_validate(
    {
        "title": "Three",
        "steps": [
            {"at": "", "title": "A", "question": "Word?", "answer": {"kind": "word", "right": "are"}},
            {"at": "", "title": "B", "question": "Number?", "answer": {"kind": "number"}},
            {"at": "", "title": "C", "question": "Choice?", "answer": {"kind": "choice", "choices": ["x", "y"]}},
            {"at": "", "title": "D"},
        ],
    }
)


class Clock:
    """A clock that is set by hand."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def classes(tmp_path: Path, clock: Clock) -> Classes:
    return Classes(tmp_path / "classes.sqlite", clock)


def test_students_join_by_a_code_and_answer_once(classes: Classes) -> None:
    code, key = classes.open(LESSON)
    assert len(code) == CODE_LENGTH
    assert set(code) <= set(CODE_LETTERS)
    assert key not in code
    name, number = classes.join(code.lower())
    other, second = classes.join(code)
    assert (number, second) == (1, 2)
    assert name != other
    assert classes.join(code, name) == (name, 1), "who comes again is the same student"
    classes.answer(code, name, 0, "are")
    with pytest.raises(AnsweredError):
        classes.answer(code, name, 0, "is")
    classes.answer(code, other, 0, " ARE ")
    assert [(one.number, one.answer) for one in classes.answers(code)] == [(1, "are"), (2, "ARE")]
    assert counted(classes.answers(code)) == [("are", 2)]


def test_only_the_lecturer_leads_and_what_shows_is_answered_no_more(classes: Classes) -> None:
    code, key = classes.open(LESSON)
    name, _ = classes.join(code)
    for wrong in ("", "x", name, code):
        with pytest.raises(NotTheLecturerError):
            classes.turn(code, wrong, 1, False)
        assert not classes.is_lecturer(code, wrong)
    assert classes.turn(code, key, 0, True).revealed
    with pytest.raises(BadInputError, match="too late"):
        classes.answer(code, name, 0, "are")
    assert not classes.turn(code, key, 1, False).revealed
    with pytest.raises(BadInputError, match="gone on"):
        classes.answer(code, name, 0, "are")
    assert classes.turn(code, key, 0, False).revealed, "what has been shown stays shown"
    for step in (-1, 4):
        with pytest.raises(BadInputError, match="1 to 4"):
            classes.turn(code, key, step, False)


def test_who_has_not_joined_cannot_answer(classes: Classes) -> None:
    code, _ = classes.open(LESSON)
    other, _ = classes.open(LESSON)
    name, _ = classes.join(other)
    for stranger in ("", "nobody", name):
        with pytest.raises(BadInputError, match="Join"):
            classes.answer(code, stranger, 0, "are")
    with pytest.raises(NoClassError, match="code"):
        classes.join("ZZZZZ")


def test_a_step_without_a_question_takes_no_answer(classes: Classes) -> None:
    code, key = classes.open(LESSON)
    name, _ = classes.join(code)
    classes.turn(code, key, 3, False)
    with pytest.raises(BadInputError):
        classes.answer(code, name, 3, "are")


@each_row(
    ("kind", "said", "kept"),
    [
        ("word", "  are\n", "are"),
        ("word", "", None),
        ("word", "x" * 41, None),
        ("number", "40%", "40"),
        ("number", "0,5", "0.5"),
        ("number", "-3e2", "-300"),
        ("number", "nan", None),
        ("number", "inf", None),
        ("number", "many", None),
        ("choice", "x", "x"),
        ("choice", "z", None),
        ("choice", ["x"], None),
    ],
)
def test_an_answer_is_of_its_question_s_kind(kind: str, said: Any, kept: str | None) -> None:
    asked = Answer.model_validate({"kind": kind, **({"choices": ["x", "y"]} if kind == "choice" else {})})
    if kept is None:
        with pytest.raises(BadInputError):
            read_answer(asked, said)
    else:
        assert read_answer(asked, said) == kept


def test_sixty_who_answer_at_once_are_all_kept(classes: Classes) -> None:
    code, _ = classes.open(LESSON)
    together = Barrier(STUDENTS)

    def student(number: int) -> None:
        name, _ = classes.join(code)
        together.wait()
        classes.answer(code, name, 0, f"word{number}")

    threads = [Thread(target=student, args=[number]) for number in range(STUDENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    given = classes.answers(code)
    assert {one.answer for one in given} == {f"word{number}" for number in range(STUDENTS)}
    assert {one.number for one in given} == set(range(1, STUDENTS + 1))


KILLED = """
import os, signal, sys
from pathlib import Path
from explorer.lessons.classes import Classes
classes = Classes(Path(sys.argv[1]))
name, _ = classes.join(sys.argv[2])
classes.answer(sys.argv[2], name, 0, "confirmed")
print(name, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_answer_that_was_confirmed_outlives_a_server_that_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "classes.sqlite"
    code, key = Classes(path).open(LESSON)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL
    again = Classes(path)
    assert [one.answer for one in again.answers(code)] == ["confirmed"]
    assert again.join(code, done.stdout.strip()) == (done.stdout.strip(), 1)
    assert again.is_lecturer(code, key)


def everything(path: Path) -> list[Any]:
    with sqlite3.connect(path) as database:
        return [
            row for table in ("classes", "students", "answers") for row in database.execute(f"SELECT * FROM {table}")
        ]


@pytest.mark.parametrize("how", [lambda classes: classes.forget(), lambda classes: classes.open(LESSON)])
def test_a_class_is_gone_after_a_day(how: Callable[[Classes], Any], classes: Classes, clock: Clock) -> None:
    code, _ = classes.open(LESSON)
    name, _ = classes.join(code)
    classes.answer(code, name, 0, "are")
    clock.now += DAY - 1
    how(classes)
    assert classes.answers(code)
    clock.now += 2
    how(classes)
    with pytest.raises(NoClassError, match="day"):
        classes.state(code)
    assert not [row for row in everything(classes.path) if code in row]


def test_nothing_that_the_lecturer_s_browser_has_and_nothing_about_a_person_is_kept(classes: Classes) -> None:
    code, key = classes.open(LESSON)
    classes.join(code)
    with sqlite3.connect(classes.path) as database:
        columns = {
            row[1] for table in ("students", "answers") for row in database.execute(f"PRAGMA table_info({table})")
        }
    assert columns == {"code", "name", "number", "step", "answer", "at"}
    assert key not in str(everything(classes.path))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="list of classes"):
        Classes(tmp_path / "file" / "classes.sqlite").open(LESSON)
