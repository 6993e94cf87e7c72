"""Exact match and F1 as SQuAD's evaluate-v2.0 has them, against a second way to count and cases worked by hand."""

from __future__ import annotations

import string
from random import Random

import pytest

from explorer.tasks.answers import exact_match, f1, score_answers, words
from tests.rows import each_row

WORDS = ("the", "a", "An", "Red", "red,", "fox", "fox's", "12", "1.2", "well-known", "“quoted”", "THE", "!", "über")


def plainly(answer: str) -> list[str]:
    """Letter by letter: what SQuAD's scorer leaves of an answer."""
    kept = "".join(letter for letter in answer.lower() if letter not in set(string.punctuation))
    return [word for word in kept.split() if word not in ("a", "an", "the")]


def counted(said: str, right: list[str]) -> tuple[float, float]:
    """Exact match and F1 by precision and recall, with words crossed off one by one."""
    best = exact = 0.0
    for answer in [one for one in right if plainly(one)] or [""]:
        given, wanted = plainly(said), plainly(answer)
        exact = max(exact, float(given == wanted))
        if not given or not wanted:
            best = max(best, float(given == wanted))
            continue
        left, shared = list(wanted), 0
        for word in given:
            if word in left:
                left.remove(word)
                shared += 1
        if shared:
            precision, recall = shared / len(given), shared / len(wanted)
            best = max(best, 2 * precision * recall / (precision + recall))
    return exact, best


def test_drawn_answers_score_as_they_are_counted() -> None:
    draw = Random(0)
    for _ in range(500):
        said, *right = (" ".join(draw.choices(WORDS, k=draw.randint(0, 5))) for _ in range(draw.randint(1, 4)))
        assert (exact_match(said, right), f1(said, right)) == pytest.approx(counted(said, right))


@each_row(
    ("said", "right", "exact", "score"),
    [
        ("the Red  fox!", ("red fox",), 1, 1),
        ("fox", ("the red fox",), 0, 2 / 3),
        ("in 1962", ("1962", "spring 1962"), 0, 2 / 3),
        ("red red", ("red",), 0, 2 / 3),
        ("", (), 1, 1),
        ("something", (), 0, 0),
        ("", ("something",), 0, 0),
        ("the", ("an",), 1, 1),
    ],
)
def test_cases_by_hand(said: str, right: tuple[str, ...], exact: float, score: float) -> None:
    assert exact_match(said, right) == exact
    assert f1(said, right) == pytest.approx(score)


def test_articles_inside_words_stay() -> None:
    assert words("Another theatre, a Band.") == ["another", "theatre", "band"]


def test_both_are_means_over_all_questions_answerable_or_not() -> None:
    found = score_answers(["red fox", "", "", "x"], [("fox",), (), ("y",), ()])
    assert found == pytest.approx({"f1": (2 / 3 + 1) / 4, "exact_match": 1 / 4})
    assert score_answers([], []) == {"f1": None, "exact_match": None}


@each_row(
    ("said", "right", "score"),
    [
        ("", ("The", "London"), 0.0),
        ("The", ("London", "a"), 0.0),
        ("", ("The", "a"), 1.0),
        ("london", ("The", "London"), 1.0),
    ],
)
def test_accepted_answers_without_a_word_are_left_out_as_squad_does(
    said: str, right: tuple[str, ...], score: float
) -> None:
    assert (exact_match(said, right), f1(said, right)) == (score, score)
