"""The bundled questions are as their README says; SQuAD's JSON is read, or refused in a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.settings import BUNDLED_SQUAD, Settings
from explorer.tasks import sources
from explorer.tasks.formats.squad import read_squad
from explorer.tasks.places.bundled import load_squad
from explorer.tasks.sources import keep_upload, load
from explorer.tasks.task import NO_ANSWER, SPAN
from tests.rows import each_row
from tests.tasks.conftest import Write

FILE = BUNDLED_SQUAD / "questions.json"
PARAGRAPHS: list[dict[str, Any]] = [
    paragraph for article in json.loads(FILE.read_text(encoding="utf-8"))["data"] for paragraph in article["paragraphs"]
]


class TestTheBundledOnes:
    def test_each_answer_stands_where_it_is_said_to_and_nowhere_else(self) -> None:
        for paragraph in PARAGRAPHS:
            for question in paragraph["qas"]:
                assert bool(question["answers"]) is not question["is_impossible"]
                for answer in question["answers"]:
                    start, text = answer["answer_start"], answer["text"]
                    assert paragraph["context"][start : start + len(text)] == text
                    assert len(re.findall(rf"(?<!\w){re.escape(text)}(?!\w)", paragraph["context"])) == 1

    def test_each_paragraph_has_seven_answers_and_a_question_without(self) -> None:
        assert all([bool(one["answers"]) for one in each["qas"]] == [True] * 7 + [False] for each in PARAGRAPHS)
        contexts, questions = ([one["context"] for one in PARAGRAPHS], [q for p in PARAGRAPHS for q in p["qas"]])
        assert len(set(contexts)) == len(contexts) >= 80
        assert len({one["id"] for one in questions}) == len(questions) >= 400
        assert f"{len(contexts)} short paragraphs" in (BUNDLED_SQUAD / "README.md").read_text(encoding="utf-8")

    def test_no_question_is_measured_whose_paragraph_is_trained_on(self) -> None:
        data = load_squad()
        trained = {example.second for example in data.train}
        measured = {example.second for example in data.validation["validation"]}
        assert not trained & measured
        assert len(measured) == round(len(PARAGRAPHS) / 5)
        assert len(data.train) + len(data.validation["validation"]) == 8 * len(PARAGRAPHS)

    def test_it_is_a_task_of_its_kind(self, settings: Settings) -> None:
        task = load("squad", settings).task
        assert (task.kind, task.metrics, task.is_pair, task.is_regression) == (SPAN, ("f1", "exact_match"), True, False)


def article(*paragraphs: dict[str, Any], **more: Any) -> str:
    return json.dumps({"data": [{"title": "t", "paragraphs": list(paragraphs)}], **more})


def paragraph(number: int = 0, **question: Any) -> dict[str, Any]:
    """A context with one question."""
    context = f"Ada found {number} shells\nin May."
    answers = [{"text": f"{number} shells", "answer_start": 10}, {"text": str(number), "answer_start": 10}]
    return {"context": context, "qas": [{"id": "q", "question": "What did Ada find?", "answers": answers, **question}]}


class TestReading:
    def test_version_1_has_no_word_on_the_impossible(self) -> None:
        (example,) = read_squad(article(paragraph(3), version="1.1")).examples
        assert example.second == "Ada found 3 shells in May.", (
            "a line break is a space, and characters keep their places"
        )
        assert (example.label, example.answers) == (10, ("3 shells", "3"))

    def test_version_2_has_questions_without_an_answer(self) -> None:
        asked = paragraph(is_impossible=True, answers=[], plausible_answers=[{"text": "May", "answer_start": 25}])
        (example,) = read_squad(article(asked, version="v2.0")).examples
        assert (example.label, example.answers) == (NO_ANSWER, ())

    def test_a_misplaced_answer_leaves_its_question_out_and_a_note_says_so(self) -> None:
        wrong = paragraph(answers=[{"text": "shells", "answer_start": 3}])
        found = read_squad(article(paragraph(), wrong))
        assert len(found.examples) == 1
        assert found.notes == ("1 question was left out, whose answer isn't where answer_start says.",)

    @each_row(
        ("text", "said"),
        [
            ('{"data": [{"paragraphs": [{"qas": [', "Invalid JSON"),
            ('{"paragraphs": 1, "qas": 2}', "data: Field required"),
            (article({"context": "x"}), r"data\[0\].paragraphs\[0\].qas: Field required"),
            (article(paragraph(answers=[{"text": "May"}])), r"qas\[0\].answers\[0\].answer_start: Field required"),
            (article(paragraph(answers=[{"text": "May", "answer_start": 0}])), "none of its 1 questions can be used"),
            (article(paragraph(question=" ")), r"paragraphs\[0\].qas\[0\]: the question is empty"),
            (article({"context": "", "qas": paragraph()["qas"]}), "the context is empty"),
            (article({"context": "y" * 20_001, "qas": paragraph()["qas"]}), "20,000 characters"),
            (article(), "holds no questions"),
        ],
    )
    def test_what_is_broken_is_named_with_its_place(self, text: str, said: str) -> None:
        with pytest.raises(BadInputError, match=said):
            read_squad(text, "mine.json")


class TestUploads:
    def test_a_file_is_a_task_whose_contexts_are_parted(self, settings: Settings, write: Write) -> None:
        path = write(article(*map(paragraph, range(20))), "mine.json")
        data = keep_upload(path, settings)
        assert (data.task.kind, data.task.title) == (SPAN, "mine.json")
        assert (len(data.train), len(data.validation["validation"])) == (16, 4)
        assert any("0 of 20 questions have no answer" in note for note in data.notes)
        sources._load.cache_clear()
        assert load(data.name, settings) == data

    def test_a_validation_file_may_come_along(self, settings: Settings, write: Write) -> None:
        train = write(article(*map(paragraph, range(20))), "train.json")
        held = write(article(paragraph(77)), "dev.json")
        data = keep_upload(train, settings, validation_path=held)
        assert [one.answers[0] for one in data.validation["validation"]] == ["77 shells"]

    def test_a_file_without_any_answer_teaches_nothing(self, settings: Settings, write: Write) -> None:
        asked = [paragraph(number, is_impossible=True, answers=[]) for number in range(20)]
        with pytest.raises(BadInputError, match="none of the 20 questions has an answer"):
            keep_upload(write(article(*asked), "none.json"), settings)

    def test_one_context_cannot_be_parted(self, settings: Settings, write: Write) -> None:
        one = {
            "context": "Ada found shells.",
            "qas": 20 * paragraph(answers=[{"text": "Ada", "answer_start": 0}])["qas"],
        }
        with pytest.raises(BadInputError, match="too few different texts"):
            keep_upload(write(article(one), "one.json"), settings)
