"""Strips, sentences, notes and tables of the sum, from results made by hand and from models of every family."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.inputs import embeddings_figures as sum_figures
from explorer.labs.inputs import positions_figures as detail_figures
from explorer.labs.inputs.embeddings import (
    Neighbour,
    PositionsResult,
    SumPart,
    SumResult,
    SumToken,
    TokenPart,
    TokenPartsResult,
)
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

BERT = ("token", "segment", "position", "sum", "layer_norm")


def part(kind: str, count: int, width: int = 8, size: float = 1.0) -> SumPart:
    dimensions = tuple(range(0, width, 2))
    strips = tuple(tuple(size * (1 + place) * (-1) ** d for d in dimensions) for place in range(count))
    return SumPart(kind, width, tuple(size * (1.5 + place) for place in range(count)), dimensions, strips)


def summed(
    kinds: tuple[str, ...] = BERT, count: int = 4, shown: str = "word", first: int = 0, segment: int = 0
) -> SumResult:
    tokens = tuple(
        SumToken(
            place,
            place + 10,
            shown,
            shown,
            False,
            place == 0,
            segment * (place // 2) if "segment" in kinds else None,
            place + first if "position" in kinds else None,
        )
        for place in range(count)
    )
    parts = tuple(
        part(kind, count, 16 if kind == "projection" else 8, 20.0 if kind == "layer_norm" else 1.0) for kind in kinds
    )
    return SumResult("bert-small", tokens, parts, 4.8e-7)


def one(shown: str = "word", shares: tuple[float, float, float] = (0.7, 0.4, -0.1)) -> TokenPartsResult:
    added = [
        TokenPart(kind, 8, 1.25, 0.5, share, (0, 2, 4), (0.1, -0.2, 0.3))
        for kind, share in zip(("token", "segment", "position"), shares, strict=True)
    ]
    rest = [TokenPart(kind, 8, 2.5, None, None, (0, 2, 4), (0.1, -0.2, 0.3)) for kind in ("sum", "layer_norm")]
    neighbours = (Neighbour(shown, 0.81), Neighbour("other", 0.5))
    return TokenPartsResult("bert-small", summed(shown=shown).tokens[1], (*added, *rest), neighbours)


def positions(count: int = 4, step: int = 2, near: float = 0.6, far: float = 0.1) -> PositionsResult:
    cosines = tuple(
        tuple(1.0 if row == column else near if abs(row - column) == 1 else far for column in range(count))
        for row in range(count)
    )
    return PositionsResult("bert-small", tuple(range(0, count * step, step)), 512, cosines)


def test_the_table_has_a_row_a_token_and_part() -> None:
    table = sum_figures.sum_table(summed())
    assert table.columns == ("position", "token", "part", "norm")
    assert len(table.rows) == 4 * 5
    assert table.rows[:2] == ((0, "word", "token", 1.5), (0, "word", "segment", 1.5))


def test_the_sentence_has_the_way_the_difference_and_the_mean_norms() -> None:
    text = sum_figures.sum_sentence(summed()).striptags()
    assert text.startswith("token + segment + position → LayerNorm: added up here")
    assert text.endswith("by at most 4.8e-7.")
    assert "Mean norms: token 3.00, segment 3.00, position 3.00." in sum_figures.sum_notes(summed())
    albert = sum_figures.sum_sentence(summed((*BERT, "projection"))).striptags()
    assert albert.startswith("token + segment + position → LayerNorm → projection:")
    assert (
        sum_figures.sum_sentence(summed(("token", "position", "sum"))).striptags().startswith("token + position: added")
    )


@each_row(
    ("result", "says", "never"),
    [
        (summed(segment=1), (), ("no segment", "no positions", "No LayerNorm", "row 0", "row 2", "(E)")),
        (summed(), ("Every token takes row 0 of the segment table",), ()),
        (summed(("token", "position", "sum", "layer_norm")), ("no segment embeddings",), ("row 0",)),
        (summed(("token", "sum", "layer_norm")), ("adds no positions here", "no segment embeddings"), ()),
        (summed(("token", "position", "sum")), ("No LayerNorm follows",), ()),
        (summed(first=2), ("counted from row 2 of the table",), ()),
        (summed((*BERT, "projection")), ("8 wide (E)", "to 16 (H)"), ()),
    ],
)
def test_the_notes_tell_what_a_model_does_in_its_own_way(
    result: SumResult, says: tuple[str, ...], never: tuple[str, ...]
) -> None:
    text = sum_figures.sum_notes(result).striptags()
    assert all(entry in text for entry in says)
    assert not any(entry in text for entry in never)
    assert "one in 2 of the 8" in text


@each_row("kinds", [BERT, (*BERT, "projection"), ("token", "sum", "layer_norm"), ("token", "position", "sum")])
def test_a_panel_for_each_part_from_left_to_right(kinds: tuple[str, ...]) -> None:
    figure = assert_draws(sum_figures.sum_figure(summed(kinds)))
    strips = [trace for trace in figure.data if trace.type == "heatmap"]
    assert len(strips) == len(kinds)
    titles = [note.text for note in figure.layout.annotations]
    assert titles[0] == "token"
    assert titles[kinds.index("sum")] == "= sum"
    assert [title[0] for title in titles[1 : kinds.index("sum")]] == ["+"] * (kinds.index("sum") - 1)
    assert all(title.startswith("→ ") for title in titles[kinds.index("sum") + 1 :])
    starts = [figure.layout[f"xaxis{number or ''}"].domain[0] for number in (0, *range(2, len(kinds) + 1))]
    assert starts == sorted(starts)
    scales = [strip.coloraxis for strip in strips]
    assert scales == [sum_figures.AXES.get(kind, "coloraxis") for kind in kinds]
    assert len(set(scales)) == 1 + len(kinds) - 1 - kinds.index("sum")
    assert figure.layout.coloraxis.cmin == -figure.layout.coloraxis.cmax


def test_norms_stand_beside_the_strips() -> None:
    figure = assert_draws(sum_figures.sum_figure(summed()))
    texts = [trace.text for trace in figure.data if trace.type == "scatter"]
    assert texts[0] == ("1.50", "2.50", "3.50", "4.50")
    assert texts[-1] == ("30.00", "50.00", "70.00", "90.00")


@each_row(("first", "shown"), [(0, 0), (10, 10), (76, 76), (500, 76), (-5, 0)])
def test_of_a_long_text_some_rows_are_shown_from_where_the_visitor_wants(first: int, shown: int) -> None:
    figure = assert_draws(sum_figures.sum_figure(summed(count=100), first))
    rows = figure.data[0].y
    assert list(rows) == list(range(shown, shown + sum_figures.MOST_ROWS))
    assert figure.data[1].text[0] == f"{1.5 + shown:.2f}"
    assert len(figure.layout.yaxis.ticktext) == sum_figures.MOST_ROWS


def test_a_few_large_dimensions_do_not_whiten_the_rest() -> None:
    values = [0.1] * 999 + [50.0]
    assert sum_figures.limit(values) == 0.1
    assert sum_figures.limit([]) == sum_figures.limit([0.0]) == 1.0


def test_the_list_of_tokens_has_every_position() -> None:
    choices = sum_figures.token_choices(summed(count=3))
    assert choices == [("0: word", 0), ("1: word", 1), ("2: word", 2)]


def test_a_token_s_table_and_sentence() -> None:
    table = detail_figures.token_table(one())
    assert table.columns == ("part", "norm", "cosine", "share")
    assert table.rows[0] == ("token", 1.25, 0.5, 0.7)
    assert table.rows[3] == ("sum", 2.5, None, None)
    text = detail_figures.token_sentence(one()).striptags()
    assert text.startswith("Of the squared norm of the sum for “word” token makes most, 70")
    text = detail_figures.token_notes(one()).striptags()
    assert "Position 1: token makes 70%; segment makes 40%; position makes −10%" in text.replace("70.0", "70").replace(
        "40.0", "40"
    ).replace("10.0", "10")
    assert "segment makes 0%" in detail_figures.token_notes(one(shares=(1.0, 0.0, 0.0))).striptags()


def test_a_token_s_strips_have_their_dimensions_to_hover() -> None:
    figure = assert_draws(detail_figures.token_figure(one()))
    assert len(figure.data) == 5
    assert list(figure.data[0].customdata[0]) == [0, 2, 4]
    assert figure.layout.yaxis.ticktext[0].startswith("token, norm 1.25<br>")
    assert figure.layout.yaxis.ticktext[4] == "LayerNorm, norm 2.50"


def test_neighbours_are_chips_with_their_cosine() -> None:
    chips = detail_figures.neighbour_chips(one())["chips"]
    assert [(chip["text"], chip["below"]) for chip in chips] == [("word", "0.81"), ("other", "0.50")]
    assert all(chip["position"] is None for chip in chips)


@pytest.mark.parametrize("learned", [True, False])
def test_positions_tell_whether_a_band_is_there(learned: bool) -> None:
    result = positions(near=0.6 if learned else 0.1)
    text = detail_figures.positions_sentence(result).striptags()
    assert f"2 apart have a cosine of {0.6 if learned else 0.1:.2f} on average" in text
    assert "two far apart 0.10" in text
    assert "Far apart: by at least 4." in detail_figures.positions_notes(result)
    assert ("learned from text alone which positions are neighbours" in text) == learned
    assert ("hardly more alike" in text) != learned
    assert "nothing" not in text
    figure = assert_draws(detail_figures.positions_figure(result))
    assert figure.data[0].z[1][1] == 1.0
    assert list(figure.data[0].x) == [0, 2, 4, 6]


def test_a_model_without_positions_draws_nothing_and_says_why() -> None:
    empty = PositionsResult("modern", (), 0, ())
    assert detail_figures.positions_figure(empty) == {}
    assert "adds no position embeddings" in detail_figures.positions_sentence(empty).striptags()
    assert detail_figures.positions_notes(empty) == ""
    assert detail_figures.positions_table(empty).rows == ()


def test_two_positions_are_enough() -> None:
    assert_draws(detail_figures.positions_figure(positions(2)))


def test_the_table_of_positions_has_every_pair() -> None:
    table = detail_figures.positions_table(positions())
    assert table.columns == ("first", "second", "cosine")
    assert len(table.rows) == 16
    assert table.rows[1] == (0, 2, 0.6)


@each_row("text", [*HOSTILE, "%{y}", "$x$"])
def test_a_visitor_s_text_stays_text(text: str) -> None:
    assert_safe(detail_figures.token_sentence(one(text)), text)
    assert_safe(sum_figures.sum_sentence(replace(summed(), model=text)), text)
    assert_safe(sum_figures.sum_notes(summed(shown=text)), "dimensions", ("p",))
    figure = sum_figures.sum_figure(summed(shown=text))
    assert not any("<" in label for label in figure["layout"]["yaxis"]["ticktext"])
    plain = sum_figures.sum_figure(summed())
    assert [trace.get("hovertemplate") for trace in figure["data"]] == [
        trace.get("hovertemplate") for trace in plain["data"]
    ]
