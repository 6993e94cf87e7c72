"""What the rows and the distribution look like and say, from results made by hand."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import pytest

from explorer.labs.generation import continued_figures as figures
from explorer.labs.generation import next_figures
from explorer.labs.generation.continued import (
    DECODINGS,
    Candidate,
    ContinueParams,
    ContinueResult,
    NextResult,
    Row,
    Written,
    longest_repeat,
    period,
)
from tests.labs.drawing import HOSTILE, assert_draws
from tests.rows import each_row


def written(ids: str, share: float = 0.5, **more: Any) -> tuple[Written, ...]:
    """A token a letter."""
    return tuple(Written(ord(one), one, False, log(share), 1, **more) for one in ids)


def candidate(rank: int, text: str = "word", allowed: bool = True) -> Candidate:
    return Candidate(rank, 100 + rank, text, False, 0.3 / rank, 0.2 / rank, rank <= 3, rank <= 5, allowed)


TOP = tuple(candidate(rank, allowed=rank <= 3) for rank in range(1, 16))
RANKS, MASS, WARM = (1, 10, 500), (0.3, 0.8, 1.0), (0.5, 0.9, 1.0)
KEPT = (3, 0.55), (5, 0.7)
NEXT = NextResult(
    "m", "A text", "A text", (4, 5), "top_k", 3, 0.9, 0.7, 500, 2.5, TOP, *KEPT, RANKS, MASS, WARM, candidate(2)
)


def result(*rows: Row, done: bool = True, **more: Any) -> ContinueResult:
    asked = ContinueParams(decoding=tuple(row.decoding for row in rows))
    return ContinueResult("m", asked, "A text", rows, 6, 6, **{"room": None, "done": done, "next": NEXT, **more})


@each_row(
    ("ids", "found"),
    [
        ("abcdef", (0, 0)),
        ("abcabc", (0, 3)),
        ("xaaaa", (1, 2)),
        ("qtheztheyy", (1, 3)),
        ("abababab", (0, 4)),
        ("", (0, 0)),
    ],
)
def test_the_longest_repeat_does_not_overlap_itself(ids: str, found: tuple[int, int]) -> None:
    assert longest_repeat([ord(one) for one in ids]) == found


@each_row(("ids", "found"), [("abab", 2), ("aaa", 1), ("abc", 3), ("abcab", 3), ("abca", 4), ("", 0)])
def test_what_goes_round_in_a_piece(ids: str, found: int) -> None:
    assert period([ord(one) for one in ids]) == found


def test_a_row_that_goes_round_says_in_what_and_how_often() -> None:
    row = Row("greedy", written("xyabcabcabcab"))
    tokens, times = row.refrain
    assert ("".join(token.text for token in tokens), times) == ("abc", 3)
    assert row.repeats_itself
    assert row.distinct == pytest.approx(5 / 12)
    both = result(row, Row("top_p", written("abcdefgh", 0.01)))
    said = figures.continue_sentence(both).striptags()
    assert "Greedy repeats itself: it writes “a b c” 3 times." in figures.continue_notes(both).striptags()
    assert "0.69 nats (greedy) to 4.61 (top-p)" in said


def test_scores_leave_the_branch_out_and_count_the_end() -> None:
    row = Row("beam", written("ab", 0.1, by_hand=True) + written("cd"), ended=log(0.25))
    assert row.score == pytest.approx(4 * log(0.5))
    assert row.surprisal == pytest.approx(4 / 3 * log(2))
    assert Row("greedy", written("ab", by_hand=True)).surprisal is None
    said = figures.continue_notes(result(row)).striptags()
    assert "The model ended its text by beam search after 2 tokens." in said
    assert "Every row begins with “a b”" in figures.branch_view(result(row)).striptags()


def test_rows_carry_what_the_page_needs_to_ask_on() -> None:
    rows = figures.rows_view(result(Row("top_k", written("ab", 1.0)), Row("greedy", written("c", 1e-6)), done=False))[
        "rows"
    ]
    assert [token["id"] for token in rows[0]["tokens"]] == [97, 98]
    assert rows[0]["name"] == "top-k, k = 40"
    assert rows[0]["going"]
    assert (rows[0]["tokens"][0]["share"], rows[1]["tokens"][0]["share"]) == (1, 0)
    assert (rows[0]["tokens"][0]["ink"], rows[1]["tokens"][0]["ink"]) == ("@reversed", "@ink")


def test_the_table_has_a_row_for_each_token() -> None:
    table = figures.continue_table(result(Row("greedy", written("ab")), Row("beam", written("c"))))
    assert table.columns == ("decoding", "position", "token", "probability", "rank", "token_id")
    assert [row[:3] for row in table.rows] == [("greedy", 1, "a"), ("greedy", 2, "b"), ("beam", 1, "c")]


@each_row("decoding", list(DECODINGS))
def test_the_distribution_draws_for_every_decoding(decoding: str) -> None:
    allowed = {"greedy": 1, "top_k": 3, "top_p": 5}.get(decoding, 15)
    top = tuple(replace(one, allowed=one.rank <= allowed) for one in NEXT.top)
    drawn = next_figures.next_figure(replace(NEXT, decoding=decoding, top=top))
    figure = assert_draws(drawn)
    bars = {trace.name: len(trace.y) for trace in figure.data if trace.type == "bar"}
    written_too = allowed < 2
    expected = {"allowed": allowed - (not written_too), "left out": 15 - allowed - written_too, "written": 1}
    assert bars == {name: count for name, count in expected.items() if count}
    cuts = [shape for shape in figure.layout.shapes if shape.y0 == shape.y1 == allowed - 0.5]
    assert len(cuts) == (allowed < 15)


@each_row("text", HOSTILE)
def test_texts_stay_texts(text: str) -> None:
    one = replace(candidate(1, text), token_id=7)
    told = replace(NEXT, context=text, top=(one, *NEXT.top[1:]), written=one)
    assert_draws(next_figures.next_figure(told))
    row = Row("greedy", (Written(7, text, False, -1.0, 1),) * 8)
    for said in (
        next_figures.next_sentence(told),
        next_figures.next_notes(told),
        figures.continue_notes(result(row)),
        figures.continue_sentence(result(row)),
        figures.branch_view(result(row)),
    ):
        assert text not in said or "<" not in text
    assert figures.rows_view(result(row))["rows"][0]["tokens"][0]["text"] == text
    assert next_figures.alternatives(told)["chips"][0]["text"] == text


def test_the_alternatives_lead_to_branches() -> None:
    shown = next_figures.alternatives(NEXT)
    assert shown["branches"][0] == [4, 5, 101]
    assert [one["position"] for one in shown["chips"]] == list(range(15))


def test_the_progress_says_how_far_and_why_it_stopped_early() -> None:
    row = Row("greedy", written("ab"))
    assert "Token 6 of 6" in figures.progress_line(result(row, done=False))
    assert "room for 6 more tokens only" in figures.progress_line(result(row, room=6))
    assert figures.progress_line(result(row)) == ""


@pytest.mark.parametrize(
    ("temperature", "said"),
    [(0.0, "takes the likeliest token"), (1.0, "allows every token as it is"), (0.7, "in place of")],
)
def test_a_temperature_says_what_it_does(temperature: float, said: str) -> None:
    best = NEXT.top[0]
    tempered = best.probability if temperature == 1.0 else 2 * best.probability
    top = (replace(best, tempered=tempered), *NEXT.top[1:])
    asked = replace(NEXT, decoding="temperature", temperature=temperature, top=top)
    assert said in next_figures.next_sentence(asked).striptags()
