"""Lessons as they are given: alone, with a class of three phones, and written by a lecturer on the way."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from explorer.lessons.reading import bundled, read
from explorer.lessons.schema import Step
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

PHONE = {"width": 390, "height": 844}
GIVEN = "both-sides"
"""The lesson that is given to a class, to its end: it has answers of every kind."""

NEXT = "The next step"


def guess(page: Page, step: Step, number: int) -> str:
    """Answer a step as the student of a number does; return what was answered."""
    assert step.answer
    if step.answer.kind == "choice":
        said = step.answer.choices[number % len(step.answer.choices)]
        page.get_by_role("button", name=said, exact=True).click()
        return said
    said = ("are", "cat", "keys")[number % 3] if step.answer.kind == "word" else str(10 * number + 1)
    page.get_by_role("textbox").fill(said)
    page.get_by_role("button", name="Guess").click()
    return said


@pytest.fixture
def students(browser: Any, server: str) -> Iterator[list[Page]]:
    """Three phones, each a browser of its own."""
    contexts = [browser.new_context(viewport=PHONE) for _ in range(3)]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


def lesson_bar(page: Page) -> Any:
    return page.get_by_role("region", name="Lesson")


def open_for_class(visit: Visit, name: str) -> str:
    """As a lecturer does: from the home page. Returns the code."""
    visit.open("", "#home-figure")
    visit.page.get_by_text("I teach").click()
    visit.page.locator(f"[data-class={name}]").click()
    dialog = visit.page.locator("dialog.lesson-invite")
    expect(dialog.locator("svg")).to_be_visible()
    code = dialog.locator(".lesson-code").inner_text()
    dialog.get_by_role("button", name="Close").click()
    return code


def test_the_answer_is_hidden_until_a_guess_is_in(visit: Visit) -> None:
    page = visit.page
    step = bundled()["both-sides"].steps[0]
    page.goto(f"{visit.address}/#lesson=both-sides&lesson_step=1")
    expect(lesson_bar(page)).to_contain_text(step.question)
    page.wait_for_selector("#home-figure .plot[data-drawn]", state="attached")
    expect(page.locator("#home-figure .plot")).to_be_hidden()
    expect(page.locator(".said").first).to_be_hidden()
    page.get_by_role("textbox", name="Your word").fill("is")
    page.keyboard.press("Enter")
    expect(page.locator(".lesson-compared")).to_have_text("You: is (11.9%). bert-small: are (65.9%).")
    expect(lesson_bar(page)).to_contain_text(step.reveal.text if step.reveal else "")
    expect(page.locator("#home-figure .plot")).to_be_visible()
    page.reload()
    expect(page.locator(".lesson-compared")).to_contain_text("You: is")
    page.get_by_role("button", name=NEXT).click()
    expect(lesson_bar(page)).to_contain_text("2 of 5")
    page.locator("h1").click()
    page.keyboard.press("p")
    page.keyboard.press("ArrowRight")
    expect(lesson_bar(page)).to_contain_text("3 of 5")
    page.keyboard.press("ArrowLeft")
    expect(lesson_bar(page)).to_contain_text("2 of 5")
    page.keyboard.press("Escape")
    visit.turn_to("Masking")
    page.get_by_role("link", name="Back to the lesson").click()
    expect(lesson_bar(page)).to_contain_text("2 of 5")
    page.get_by_role("button", name="Leave the lesson").click()
    expect(page).not_to_have_url(re.compile("lesson="))
    expect(page.locator(".figure .plot").first).to_be_visible()
    visit.assert_unharmed()


@pytest.mark.parametrize(("lesson", "step", "answer"), [("bias", 1, "nurse"), ("update", 5, "42.0%")])
def test_nothing_that_a_tab_writes_gives_the_answer_away(lesson: str, step: int, answer: str, visit: Visit) -> None:
    page = visit.page
    page.goto(f"{visit.address}/#lesson={lesson}&lesson_step={step}")
    skip = page.get_by_role("button", name="I don't know")
    expect(skip).to_be_visible()
    panel = page.locator("[role=tabpanel]:visible").first
    page.wait_for_function(f"document.body.textContent.includes({answer!r})")
    expect(panel).not_to_contain_text(answer, use_inner_text=True)
    skip.click()
    expect(panel).to_contain_text(answer, use_inner_text=True)


def test_a_lesson_is_given_to_a_class_of_three(visit: Visit, students: list[Page], server: str) -> None:
    page, lesson = visit.page, bundled()[GIVEN]
    assert {step.answer.kind for step in lesson.steps if step.answer} == {"word", "number", "choice"}
    code = open_for_class(visit, GIVEN)
    for student in students:
        student.goto(f"{server}/join")
        student.get_by_role("textbox").fill(code.lower())
        student.get_by_role("button", name="Join").click()
    expect(page.locator(".lesson-count")).to_have_text("0 of 3 answered")
    given: list[list[str]] = []
    for number, step in enumerate(lesson.steps, start=1):
        expect(lesson_bar(page)).to_contain_text(f"{number} of {len(lesson.steps)}")
        said = []
        for at, student in enumerate(students):
            expect(student.get_by_role("heading")).to_have_text(step.question)
            said.append(guess(student, step, at))
            expect(student.get_by_text("You answered")).to_be_visible()
        expect(page.locator(".lesson-count")).to_have_text("3 of 3 answered")
        if step.hides:
            expect(page.locator(".figure:has(.plot)").first.locator(".plot")).to_be_hidden()
        page.get_by_role("button", name="Show the answer").click()
        expect(students[0].locator(".lesson-answers")).to_be_visible()
        expect(page.locator("tr.right")).to_have_count(1)
        if step.reveal:
            expect(lesson_bar(page)).to_contain_text(step.reveal.text)
            expect(students[2].get_by_text(step.reveal.text)).to_be_visible()
        counts = [
            int(text or 0) for text in page.locator(".lesson-answers tbody td:nth-child(2) .bar-said").all_inner_texts()
        ]
        assert sum(counts) == 3
        given.append(said)
        if number < len(lesson.steps):
            page.get_by_role("button", name=NEXT).click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="All answers (CSV)").click()
    rows = list(csv.DictReader(io.StringIO(coming.value.path().read_text(encoding="utf-8"))))
    assert [(int(row["step"]), row["answer"]) for row in rows] == [
        (number, answer) for number, said in enumerate(given, start=1) for answer in said
    ]
    visit.assert_unharmed()


def test_a_student_answers_once_and_cannot_lead(visit: Visit, students: list[Page], server: str) -> None:
    code = open_for_class(visit, "both-sides")
    student = students[0]
    student.goto(f"{server}/join?class={code}")
    student.get_by_role("textbox").fill("are")
    student.get_by_role("button", name="Guess").click()
    expect(student.get_by_text("You answered are.")).to_be_visible()
    student.reload()
    expect(student.get_by_text("You answered are.")).to_be_visible()
    expect(student.get_by_role("textbox")).to_have_count(0)
    student.goto(f"{server}/#class={code}&lesson_step=2")
    expect(lesson_bar(student)).to_contain_text("Only the browser in which this class was opened")
    expect(visit.page.locator(".lesson-count")).to_have_text("1 of 1 answered")
    expect(lesson_bar(visit.page)).to_contain_text("1 of 5")


def test_a_lesson_is_written_from_the_views_that_are_visited(visit: Visit) -> None:
    page = visit.page
    visit.open("", "#home-figure")
    page.get_by_text("I teach").click()
    page.get_by_role("button", name="Write a lesson").click()
    visit.turn_to("Masking")
    page.wait_for_selector("#fill-figure .plot[data-drawn]")
    page.locator("textarea:visible").first.fill("Paris & Rome are [MASK].")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("text=Paris"))
    add = page.get_by_role("button", name="Add this view as a step")
    add.click()
    page.get_by_label("Question").fill("What are they?")
    page.get_by_label("It is answered").select_option("choice")
    page.get_by_label("The choices, one a line").fill("cities\n<img src=x onerror=alert(1)>")
    page.get_by_label(re.compile("What is right")).fill("cities")
    page.get_by_role("button", name="Keep this step").click()
    expect(page.locator(".lesson-bar")).to_contain_text("1 step")
    visit.turn_to("Attention")
    page.wait_for_selector(".figure .plot[data-drawn]")
    add.click()
    page.get_by_role("button", name="Keep this step").click()
    with page.expect_download() as coming:
        page.get_by_role("button", name="Save as a file").click()
    lesson = read(coming.value.path().read_text(encoding="utf-8"))
    assert [re.split("[?#]", step.at)[0] for step in lesson.steps] == ["masking", "attention"]
    assert lesson.steps[0].answer
    assert lesson.steps[0].answer.right == "cities"
    page.get_by_role("button", name="Done").click()
    visit.open("", "#home-figure")
    page.get_by_text("I teach").click()
    page.locator(".lesson-own").get_by_role("link", name="Open", exact=True).click()
    expect(page.get_by_role("button", name="<img src=x onerror=alert(1)>")).to_be_visible()
    expect(page.locator("textarea:visible").first).to_have_value("Paris & Rome are [MASK].")
    page.get_by_role("button", name="cities", exact=True).click()
    expect(page.locator(".lesson-compared")).to_have_text("You: cities. That is right.")
    assert page.locator(".lesson-bar img").count() == 0
    visit.assert_unharmed()
