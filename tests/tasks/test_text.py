"""Plain text as a task: which sentences there are, which are held out, and what is too little."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import BadInputError
from explorer.settings import Settings
from explorer.tasks.formats.text import LONGEST_PASTED, LONGEST_PIECE, TEXT
from explorer.tasks.places.bundled import MOST_HELD_OUT, load_glue
from explorer.tasks.places.uploads import Upload, read_upload
from explorer.tasks.sources import keep_text, keep_upload, load
from explorer.tasks.task import TaskData

SENTENCES = tuple(f"Sentence number {number} is here." for number in range(20))


def read_text(text: str, title: str) -> TaskData:
    return read_upload(Upload(title, text.encode(), None, TEXT.slug))


def texts(data: TaskData) -> tuple[list[str], list[str]]:
    return [one.text for one in data.train], [one.text for one in data.validation["validation"]]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_folder=tmp_path)


def test_the_bundled_text_is_the_tasks_sentences_each_once(settings: Settings) -> None:
    data = load(TEXT.slug, settings)
    train, held = texts(data)
    assert len(train) > 3000
    assert len(held) == MOST_HELD_OUT
    assert len({*train, *held}) == len(train) + len(held)
    assert {one.text for one in load_glue("sst2").train} <= set(train)
    validation = {text for one in load_glue("rte").validation["validation"] for text in (one.text, one.second)}
    assert not validation & set(train)
    wrong = {one.text for one in load_glue("cola").train if not one.label}
    assert not wrong & {*train, *held}
    assert not data.task.is_regression
    assert data.task.labels == ()


def test_a_text_is_cut_into_sentences_of_which_a_fifth_is_held_out() -> None:
    wrapped = "\n".join(SENTENCES[:10]) + "\n\n" + " ".join(SENTENCES[10:])
    data = read_text(wrapped, "a.txt")
    train, held = texts(data)
    assert sorted(train + held) == sorted(SENTENCES)
    assert len(held) == 4
    assert data.notes == ("4 of 20 sentences are held out for validation.",)
    again = texts(read_text(" ".join(reversed(SENTENCES)), "b"))[1]
    assert set(again) == set(held)


def test_a_sentence_on_two_lines_is_one() -> None:
    train, held = texts(read_text("A line\r\nthat goes on. " + " ".join(SENTENCES), "a"))
    assert "A line that goes on." in train + held


def test_copies_are_never_on_both_sides() -> None:
    train, held = texts(read_text(" ".join(SENTENCES * 3), "a"))
    assert len(train) + len(held) == 60
    assert not set(train) & set(held)


def test_what_is_too_long_for_a_row_is_cut_at_a_space() -> None:
    long = " ".join(f"word{number}" for number in range(400)) + "x" * 1200
    train, held = texts(read_text(long + ".\n\n" + " ".join(SENTENCES), "a"))
    assert max(map(len, train + held)) <= LONGEST_PIECE
    words = {word for text in train + held for word in text.split()}
    assert {f"word{number}" for number in range(399)} <= words


@pytest.mark.parametrize(("text", "count"), [("Hello there.", "1 different sentence,"), ("One. " * 30, "1 different")])
def test_too_little_to_hold_anything_out(text: str, count: str) -> None:
    with pytest.raises(BadInputError, match=count) as raised:
        read_text(text, "your text")
    assert "Take a longer one" in str(raised.value)


class TestKept:
    def test_a_pasted_text_is_found_again(self, settings: Settings) -> None:
        kept = keep_text("\ud800\0<b>" + " ".join(SENTENCES), settings)
        assert load(kept.name, settings) == kept
        assert kept.task.masked
        assert kept.task.title == "Masked words · your text"

    def test_a_file_may_be_a_text(self, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "book.txt"
        path.write_text(" ".join(SENTENCES), encoding="utf-8")
        data = keep_upload(path, settings, TEXT.slug)
        assert data.task.title == "Masked words · book.txt"
        assert load(data.name, settings).task.masked

    @pytest.mark.parametrize(
        ("text", "said"),
        [("", "is empty"), (" \n", "is empty"), (7, "is empty"), ("a" * (LONGEST_PASTED + 1), "Cut it shorter")],
        ids=["nothing", "blank", "a number", "too long"],
    )
    def test_what_is_refused(self, settings: Settings, text: object, said: str) -> None:
        with pytest.raises(BadInputError, match=said):
            keep_text(text, settings)

    def test_a_file_that_is_no_text(self, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "book.pdf"
        path.write_bytes(b"%PDF-1.7")
        with pytest.raises(BadInputError, match="Save it as plain text"):
            keep_upload(path, settings, TEXT.slug)
        path.write_bytes(b" ")
        with pytest.raises(BadInputError, match="should hold some sentences"):
            keep_upload(path, settings, TEXT.slug)
