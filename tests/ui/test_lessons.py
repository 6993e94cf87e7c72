"""Lessons and classes over the wire: what a browser of the lecturer's and a student's phone may ask, and what it is told."""

from __future__ import annotations

import csv
import io
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import gradio as gr
import httpx
import pytest

from explorer.lessons.reading import bundled, read, wrong
from explorer.lessons.routes import KEY
from explorer.serving.pages import Pages
from tests.rows import each_row

OWN = """\
title: Mine
steps:
  - {at: "masking#tab=fill", title: One, question: "Which?", answer: {kind: word, right: "=1+1"}}
  - {at: directions, title: Two, question: "Which side?", answer: {kind: choice, choices: [left, right]}}
"""
TRAINS = {
    "at": "",
    "title": "T",
    "question": "Q",
    "answer": {"kind": "word", "truth": {"action": "train", "column": "x"}},
}


@pytest.fixture
def browser(address: str) -> httpx.Client:
    """One that keeps no cookies."""
    return httpx.Client(base_url=address, timeout=60)


def opened(browser: httpx.Client, **lesson: Any) -> tuple[str, dict[str, str]]:
    answer = browser.post("explorer/class", json=lesson).json()
    return answer["code"], {KEY: answer["key"]}


def joined(browser: httpx.Client, code: str) -> str:
    return str(browser.post(f"explorer/class/{code}/join", json={}).json()["name"])


@each_row("name", bundled())
def test_every_step_of_a_bundled_lesson_opens_as_it_says(name: str, blocks: gr.Blocks) -> None:
    addresses = cast(Pages, blocks).addresses
    said = {step.at: wrong(step.at, addresses) for step in bundled()[name].steps}
    assert not any(said.values()), said


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("nowhere", "no page"),
        ("masking#tab=nowhere", "no tab"),
        ("masking#tab=fill&colour=red", "colour"),
        ("masking#tab=fill&top_k=many", "number"),
        ("masking?lecturer=x", "lecturer="),
    ],
)
def test_an_address_that_does_not_open_is_told(at: str, says: str, browser: httpx.Client) -> None:
    answer = browser.post("explorer/lessons/check", content=OWN.replace("masking#tab=fill", at).encode())
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("Step 1, “One”: ")
    assert says in answer.json()["error"]


def test_a_lesson_goes_to_the_browser_and_comes_back_as_a_file(browser: httpx.Client) -> None:
    lesson = browser.post("explorer/lessons/check", content=OWN.encode()).json()
    file = browser.post("explorer/lessons/yaml", json=lesson)
    assert read(file.text) == read(OWN)
    wrong_line = browser.post("explorer/lessons/check", content=OWN.replace("kind: word", "kind: song").encode())
    assert wrong_line.json()["error"].startswith("Line 3, ")


def test_a_sheet_has_each_question_and_a_code_for_each_view(browser: httpx.Client) -> None:
    page = browser.get("explorer/lessons/both-sides/sheet", params={"at": "https://school.example/app/"}).text
    for number, step in enumerate(bundled()["both-sides"].steps, start=1):
        assert step.title in page
        assert f"https://school.example/app/#lesson=both-sides&amp;lesson_step={number}" in page
    assert page.count("<svg") == len(bundled()["both-sides"].steps)
    hostile = {"title": "<script>x</script>", "steps": [{"at": "masking", "title": "<img src=x onerror=y>"}]}
    own = browser.post("explorer/lessons/sheet", json={"lesson": hostile, "at": "https://school.example/"}).text
    assert "<script" not in own
    assert "<img" not in own
    assert "&lt;img src=x" in own
    refused = browser.get("explorer/lessons/both-sides/sheet", params={"at": "javascript:alert(1)"})
    assert refused.status_code == 400


def test_a_class_from_the_first_student_to_the_csv(browser: httpx.Client) -> None:
    code, key = opened(browser, lesson=read(OWN).model_dump(mode="json"))
    students = [joined(browser, code) for _ in range(3)]
    step = browser.get(f"explorer/class/{code}/step", params={"name": students[0]}).json()
    assert step["question"] == "Which?"
    assert not step["revealed"]
    assert not {"value", "said", "beside", "answers"} & set(step), "nothing of the answer before it shows"
    for name, word in zip(students, ["=1+1", "are", "Are"], strict=True):
        given = {"name": name, "step": 0, "answer": word}
        assert browser.post(f"explorer/class/{code}/answer", json=given).status_code == 200
        assert browser.post(f"explorer/class/{code}/answer", json=given).status_code == 409
    seen = browser.get(f"explorer/class/{code}/watch", headers=key).json()
    assert seen["answered"] == 3
    assert sorted(seen["answers"]) == [["=1+1", 1], ["are", 2]]
    assert [one["answered"] for one in seen["students"]] == [True] * 3
    browser.post(f"explorer/class/{code}/turn", json={"step": 0, "revealed": True}, headers=key)
    shown = browser.get(f"explorer/class/{code}/step", params={"name": students[1]}).json()
    assert shown["revealed"]
    assert shown["own"] == "are"
    assert shown["value"] == "=1+1"
    table = browser.get(f"explorer/class/{code}/answers.csv", headers=key)
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [(row["student"], row["answer"]) for row in rows] == [("1", "'=1+1"), ("2", "are"), ("3", "Are")]
    assert {row["model"] for row in rows} == {"'=1+1"}


@pytest.mark.parametrize("path", ["lesson", "watch", "answers.csv"])
def test_a_student_cannot_see_the_lecturer_s_side(path: str, browser: httpx.Client) -> None:
    code, _ = opened(browser, name="both-sides")
    name = joined(browser, code)
    for key in ("", name, code):
        answer = browser.get(f"explorer/class/{code}/{path}", headers={KEY: key})
        assert answer.status_code == 403
        assert set(answer.json()) == {"error"}
    turn = browser.post(f"explorer/class/{code}/turn", json={"step": 1, "revealed": True}, headers={KEY: name})
    assert turn.status_code == 403


def test_who_waits_hears_at_once(browser: httpx.Client, address: str) -> None:
    code, key = opened(browser, name="both-sides")
    name = joined(browser, code)
    before = browser.get(f"explorer/class/{code}/watch", headers=key).json()
    asked = browser.get(f"explorer/class/{code}/step", params={"name": name}).json()
    with ThreadPoolExecutor(2) as waiting:
        of_lecturer = waiting.submit(
            httpx.get,
            f"{address.rstrip('/')}/explorer/class/{code}/watch",
            params={"after": before["news"]},
            headers=key,
            timeout=60,
        )
        of_student = waiting.submit(
            httpx.get,
            f"{address.rstrip('/')}/explorer/class/{code}/step",
            params={"after": asked["news"], "name": name},
            timeout=60,
        )
        time.sleep(0.5)
        assert not of_lecturer.done()
        assert not of_student.done()
        browser.post(f"explorer/class/{code}/answer", json={"name": name, "step": 0, "answer": "are"})
        assert of_lecturer.result().json()["answers"] == [["are", 1]]
        assert not of_student.done(), "others' answers are no news to a student"
        browser.post(f"explorer/class/{code}/turn", json={"step": 1, "revealed": False}, headers=key)
        assert of_student.result().json()["step"] == 1


@pytest.mark.parametrize(
    ("path", "sent", "status"),
    [
        ("class", {"name": "nothing"}, 400),
        ("class", {"lesson": {"title": "T"}}, 400),
        ("class", [], 400),
        ("class/ZZZZZ/join", {}, 404),
        ("class/ZZZZZ/answer", {"name": "x", "step": 0, "answer": "y"}, 404),
        ("class/ZZZZZ/answer", {"step": "first"}, 400),
        ("lessons/truth", {"at": "x"}, 400),
        ("lessons/truth", TRAINS, 200),
    ],
)
def test_what_makes_no_sense_is_told_in_a_sentence(path: str, sent: Any, status: int, browser: httpx.Client) -> None:
    answer = browser.post(f"explorer/{path}", json=sent)
    assert answer.status_code == status
    said = answer.json().get("error") or answer.json()["failed"]
    assert said.endswith(".")
    assert "Traceback" not in said


def test_a_code_is_drawn_for_addresses_alone(browser: httpx.Client) -> None:
    drawn = browser.get("explorer/join-code", params={"text": "https://school.example/join?class=ABCDE"}).json()
    assert drawn["svg"].startswith("<svg")
    assert not drawn["alone"]
    assert browser.get("explorer/join-code", params={"text": "http://127.0.0.1:7860/join?class=A"}).json()["alone"]
    for text in ("", "javascript:x", "https://school.example/" + "x" * 2000):
        assert browser.get("explorer/join-code", params={"text": text}).status_code == 400


def test_scripts_come_from_their_folder_alone(browser: httpx.Client) -> None:
    assert browser.get("explorer/lesson/play.js").headers["content-type"].startswith("text/javascript")
    for name in ("..%2Fpage", "nothing", "%2e%2e%2fpage"):
        assert browser.get(f"explorer/lesson/{name}.js").status_code == 404
