"""Splitting sentences, and cleaning what a visitor typed."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.text import LONGEST_TEXT, checked_text, encodable, split_sentences
from tests.rows import each_row


@each_row(
    "sentences",
    [
        ["Hello.", "How are you?", "Fine!"],
        ["Mr. Jones met Dr. Brown and Mrs. White.", "They talked to Prof. Green."],
        ["He lives in St. Louis.", "She lives with Ms. Black."],
        ["J. R. R. Tolkien wrote it.", "George W. Bush read it."],
        ["The U.S. Army left.", "The U.K. Government stayed."],
        ['"Go away!"', '"Why?"', "She left."],
        ["He said “No.”", "“Yes,” she said."],
        ["It grew by 3.5 percent.", "40 people cheered.", "In 1999 it fell to 2.0."],
        ["It was No. 5 on the list.", "Then it fell."],
        ["Did he go?", "No.", "He stayed."],
        ["(He was late.)", "[So was she.]", "(Nobody minded.)"],
        ["Wait... what happened?", "Nothing."],
        ["It ended at 5 p.m. and we left.", "Nobody stayed, e.g. me."],
        ["One sentence without an end"],
    ],
    ids=lambda sentences: sentences[0],
)
def test_a_text_is_split_into_its_sentences(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == sentences


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


def test_white_space_between_sentences_is_dropped_and_within_them_kept() -> None:
    assert split_sentences("  One  two. \n\n Three.  ") == ["One  two.", "Three."]


def test_nothing_but_space_is_lost() -> None:
    text = 'Dr. A. said "3.5!" to No. 7. Then? (Yes.) e.g. nothing. St. B. left... At 5 p.m. They came.'
    assert "".join(split_sentences(text)).replace(" ", "") == text.replace(" ", "")


@each_row("text", ["", " ", "\x00", "\n\r\t", "\ud800", None, 5, ["Paris"]])
def test_a_text_without_anything_to_read_is_refused(text: object) -> None:
    with pytest.raises(BadInputError, match="Type a sentence first"):
        checked_text(text)


def test_a_text_of_the_longest_length_is_taken_and_one_more_refused_with_the_numbers() -> None:
    assert checked_text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    with pytest.raises(BadInputError, match=r"20,001 characters.*at most 20,000"):
        checked_text("x" * (LONGEST_TEXT + 1))


@each_row("sign", ["\x00", "\n", "\r", "\t", "\x1b", "\x85", "\ud83d"])
def test_each_control_character_becomes_one_space(sign: str) -> None:
    """One for one: the characters of the tokens still count in the visitor's text."""
    assert checked_text(f"a{sign}b") == "a b"


def test_everything_else_stays_as_it_was() -> None:
    text = " <b>東京</b> & “ü” 😀 [MASK]  \u200b "
    assert checked_text(text) == text


def test_what_cannot_be_encoded_is_replaced_wherever_it_stands() -> None:
    assert encodable(["a\ud800", ["é\udfff"], 5, None, {"x": 1}]) == ["a?", ["é?"], 5, None, {"x": 1}]
    assert encodable("😀") == "😀"
