"""Lessons are read safely, with the line of a mistake; the bundled ones are whole and keep to the path."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest

from explorer import actions
from explorer.lessons.reading import FOLDER, LONGEST_FILE, LessonError, address_of, bundled, read, written
from explorer.lessons.schema import Lesson
from explorer.path import PATH, STATIONS, Station
from explorer.settings import ROOT
from tests.rows import each_row

GOOD = """\
title: Two steps
minutes: 5
steps:
  - at: "masking#tab=fill"
    title: One
    question: Which word?
    answer: {kind: word, right: are}
  - at: "directions"
    title: Two
"""
SHORTEST, LONGEST = 10, 15
"""Minutes of a single lesson."""


def mistake(text: str) -> str:
    with pytest.raises(LessonError) as caught:
        read(text)
    return str(caught.value)


def test_a_lesson_is_read() -> None:
    lesson = read(GOOD)
    assert [step.title for step in lesson.steps] == ["One", "Two"]
    assert lesson.steps[0].answer is not None
    assert lesson.steps[0].answer.right == "are"


@each_row(
    ("before", "after", "line", "says"),
    [
        ("minutes: 5", "minutes: soon", 2, "integer"),
        ("title: One", "titel: One", 5, "titel"),
        ("kind: word", "kind: dance", 7, "kind"),
        ('at: "directions"', 'at: "https://elsewhere.example/"', 8, "page on"),
        ('at: "directions"', 'at: "javascript:alert(1)"', 8, "page on"),
        ('at: "directions"', 'at: "//elsewhere.example"', 8, "page on"),
        ("{kind: word, right: are}", "{kind: choice, choices: [a]}", 7, "choices"),
        ("{kind: word, right: are}", "{kind: choice, choices: [a, b], right: c}", 7, "one of the choices"),
        ("    question: Which word?\n", "", 4, "question"),
    ],
)
def test_a_mistake_is_told_with_its_line(before: str, after: str, line: int, says: str) -> None:
    assert before in GOOD
    said = mistake(GOOD.replace(before, after))
    assert said.startswith(f"Line {line}, "), said
    assert says in said


@each_row(
    "text",
    [
        "title: [",
        "a: &x [1]\nb: *x",
        "!!python/object/apply:os.system ['true']",
        "- just a list",
        "",
        "title: T\nsteps: []",
        "\x00",
        "{" * 2000,
        "x" * (LONGEST_FILE + 1),
    ],
)
def test_what_is_no_lesson_is_refused_in_a_sentence(text: str) -> None:
    said = mistake(text)
    assert said.endswith(".")
    assert len(said) < 400


def test_a_lesson_that_is_written_reads_back_the_same() -> None:
    for lesson in (read(GOOD), *bundled().values()):
        assert read(written(lesson)) == lesson


def test_there_are_eight_lessons_and_two_paths() -> None:
    paths = {name: one for name, one in bundled().items() if name.startswith("path-")}
    single = [one for name, one in bundled().items() if name not in paths]
    assert len(single) == 8
    assert all(SHORTEST <= lesson.minutes <= LONGEST for lesson in single)
    assert [lesson.minutes for lesson in paths.values()] == [45, 90]
    assert len(list(FOLDER.glob("*.yaml"))) == len(bundled())


@pytest.mark.parametrize(("name", "stations"), [("path-45", PATH), ("path-90", STATIONS)])
def test_a_path_s_lesson_has_the_path_s_stations_and_minutes(name: str, stations: tuple[Station, ...]) -> None:
    def page(at: str) -> str:
        return at.partition("#")[0].partition("?")[0]

    lesson = bundled()[name]
    minutes = [station.of_45 if name == "path-45" else station.of_90 for station in stations]
    assert [step.minute for step in lesson.steps] == minutes
    assert [page(step.at) for step in lesson.steps] == [page(station.to) for station in stations]


def test_every_step_of_a_bundled_lesson_asks_and_only_discussions_have_no_answer() -> None:
    steps = [(name, step) for name, lesson in bundled().items() for step in lesson.steps]
    assert all(step.question and step.answer for _, step in steps)
    open_ones = [step for _, step in steps if step.answer and step.answer.truth is None and step.answer.right is None]
    assert len(open_ones) == 1


def test_an_address_has_the_lesson_and_the_step_in_its_fragment() -> None:
    assert address_of("#text=a b&also_mask=1", "both", 1) == "./#text=a+b&also_mask=1&lesson=both&lesson_step=1"
    assert address_of("delta?run=r#tab=weight", "x", 2) == "delta?run=r#tab=weight&lesson=x&lesson_step=2"


def test_a_lesson_has_at_most_so_many_steps() -> None:
    step = {"at": "masking", "title": "One"}
    with pytest.raises(ValueError, match="40"):
        Lesson.model_validate({"title": "T", "steps": [step] * 41})


def test_what_a_lesson_has_in_an_address_is_no_page_s_parameter() -> None:
    """Or the page would lose its own."""
    parameters = {field.name for action in actions().values() for field in fields(action.params)}
    script = (ROOT / "assets" / "lesson.js").read_text(encoding="utf-8")
    [listed] = re.findall(r"const NAMES = \{(.*?)\}", script)
    names = set(re.findall(r'"(\w+)"', listed))
    assert len(names) == 3
    assert not names & parameters
