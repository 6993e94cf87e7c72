"""What the page says of an answer in a text, from results made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.finetune import spans as figures
from explorer.labs.finetune.spans import AnswerResult, Span, SpanAnswer, SpanToken

TOKENS = tuple(SpanToken(place, text, False) for place, text in enumerate(("Ada", "<b>", "left"), start=4))
SURE = SpanAnswer(
    "the run", (0.9, 0.0, 0.05), (0.8, 0.1, 0.0), (0.05, 0.1), (Span("Ada", 4, 4, 0.72), Span("Ada <b>", 4, 5, 0.09))
)
NONE = replace(SURE, name="before", nothing=(0.9, 0.9))
RESULT = AnswerResult("r", "Who left?", TOKENS, NONE, SURE)


def test_the_best_span_is_said_unless_no_answer_is_likelier() -> None:
    assert figures.said_text(SURE) == "“Ada” (72.0%)"
    assert figures.said_text(NONE) == "no answer (81.0%)"
    said = figures.answer_sentence(RESULT)
    assert "the text holds no answer has 0.500%" in said
    assert "said no answer (81.0%)" in said
    assert "the best span, “Ada”, has 72.0%" in figures.answer_sentence(replace(RESULT, adapted=NONE))


def test_the_answers_tokens_are_marked() -> None:
    styles = [one["style"] for one in figures.answer_chips(RESULT)["chips"]]
    assert styles == ["answer", "plain", "plain"]
    assert {one["style"] for one in figures.answer_chips(replace(RESULT, adapted=NONE))["chips"]} == {"plain"}


def test_no_answer_stands_at_its_place_among_the_spans() -> None:
    rows = figures.spans_table(RESULT).split("<tr>")[2:]
    assert [("no answer" in row, "<strong>" in row) for row in rows] == [(False, True), (False, False), (True, False)]
    assert "no answer" in figures.spans_table(replace(RESULT, adapted=NONE)).split("<tr>")[2]
    assert "<b>" not in figures.spans_table(RESULT)


def test_the_table_has_spans_no_answer_and_every_token_of_both_models() -> None:
    rows = figures.answer_table(RESULT).rows
    assert [row[:2] for row in rows[:6]] == [
        *[("adapted", "span")] * 2,
        ("adapted", "no answer"),
        *[("adapted", "token")] * 3,
    ]
    assert rows[1][2:] == ("Ada <b>", 4, 5, 0.9, 0.1, 0.09)
    assert rows[2][5:] == pytest.approx((0.05, 0.1, 0.005))
    assert len(rows) == 12


def test_tokens_that_stand_close_are_named_together() -> None:
    assert figures._together([0, 2, 3, 20, 26, 40]) == [[0], [2, 3], [20, 26], [40]]
