"""Corruption as chips, bars, curves, grids, sentences and tables."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from explorer.charts.words import percent
from explorer.labs.masking import corrupt_figures as figures
from explorer.models.published import BERT_TABLE_8
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.masking.samples import (
    corrupt_result,
    corrupted_token,
    patterns_result,
    shares_result,
    typical_corruption,
)
from tests.rows import each_row


def test_every_figure_draws_in_both_palettes() -> None:
    assert_draws(figures.corrupt_figure(typical_corruption()))
    assert_draws(figures.shares_figure(shares_result()))
    assert_draws(figures.patterns_figure(patterns_result()))


def test_each_chosen_position_has_a_bar_of_its_fates_colour_even_where_words_repeat() -> None:
    figure = assert_draws(figures.corrupt_figure(typical_corruption()))
    assert [trace.name for trace in figure.data] == ["[MASK]", "random token", "kept as it is"]
    assert [tuple(trace.y) for trace in figure.data] == [(2.0,), (6.5,), (0.5,)]
    assert len({label for trace in figure.data for label in trace.x}) == 3
    assert figure.layout.shapes[0].y0 == pytest.approx(3.0)


def test_the_corruption_table_has_a_row_a_position() -> None:
    table = figures.corrupt_table(typical_corruption())
    assert table.columns == ("position", "original", "shown", "fate", "loss")
    assert table.rows[1] == (1, "Paris", "[MASK]", "mask", 2.0)
    assert table.rows[2] == (2, "is", "is", "untouched", None)
    assert len(table.rows) == 6


def test_the_sentence_counts_fates_and_names_the_hardest() -> None:
    text = figures.corrupt_sentence(typical_corruption()).striptags()
    assert text == "3 of 4 tokens are chosen; hardest to guess is “Paris”."
    notes = figures.corrupt_notes(typical_corruption()).striptags()
    assert re.match(r"1 \w+ \[MASK\], 1 random, 1 \w+\.", notes)
    assert "3.0000 nats" in notes
    assert notes.endswith("transformers computes the same: 3.0000. The largest is 6.50.")


def test_what_transformers_computes_is_called_the_same_where_the_digits_are() -> None:
    other = replace(typical_corruption(), model_loss=3.00004)
    assert "computes the same: 3.0000" in figures.corrupt_notes(other)
    other = replace(typical_corruption(), model_loss=3.0001)
    assert "computes another one: 3.0001" in figures.corrupt_notes(other)


def test_a_draw_that_chooses_nothing_says_so() -> None:
    nothing = corrupt_result(corrupted_token(0, "[CLS]"), corrupted_token(1, "Paris"))
    assert "No token is chosen" in figures.corrupt_sentence(nothing)
    assert figures.corrupt_notes(nothing) == ""
    assert figures.corrupt_figure(nothing)["data"] == []


def test_chips_show_what_the_model_sees_and_the_original_below() -> None:
    chips = figures.corrupt_chips(typical_corruption())["chips"]
    assert [chip["text"] for chip in chips] == ["[CLS]", "[MASK]", "is", "ing", "Paris", "[SEP]"]
    assert [chip["below"] for chip in chips] == ["", "Paris", "", "Paris", "", ""]
    assert [chip["style"] for chip in chips] == ["special", "mask", "untouched", "random", "kept", "special"]


@each_row(
    ("token", "shown"), [("##ing", "ing"), ("Ġthe", "the"), ("▁the", "the"), ("the", "the"), ("##", "##"), ("Ġ", "Ġ")]
)
def test_word_boundary_marks_are_taken_off_but_a_chip_is_never_empty(token: str, shown: str) -> None:
    assert figures.clean(token) == shown


@each_row("text", HOSTILE)
def test_a_visitors_text_stays_text(text: str) -> None:
    assert_safe(figures.corrupt_sentence(typical_corruption(text)), text)
    labels = [label for trace in figures.corrupt_figure(typical_corruption(text))["data"] for label in trace["x"]]
    labels += figures.patterns_figure(patterns_result(text))["data"][0]["x"]
    for label in labels:
        assert "<" not in label.replace("<br>", "", 1)


def test_the_shares_table_has_a_row_for_each_point() -> None:
    table = figures.shares_table(shares_result())
    assert table.columns == ("draws", "chosen", "mask", "random", "kept")
    assert table.rows == ((1, 0.2, 1.0, 0.0, 0.0), (10, 0.14, 0.7, 0.2, 0.1), (100, 0.151, 0.79, 0.11, 0.1))


def test_the_shares_sentence_sets_counts_beside_sliders() -> None:
    text = figures.shares_sentence(shares_result()).striptags()
    assert text == "After 100 draws 15.1% of the tokens were chosen."
    text = figures.shares_notes(shares_result()).striptags()
    assert text.startswith(f"Of 10 tokens; the slider says {percent(0.15)}, and BERT rounds")
    for fate, share, slider in (("became [MASK]", 0.79, 0.8), ("random", 0.11, 0.1), ("stayed", 0.1, 0.1)):
        assert f"{percent(share)} {fate} ({percent(slider)})" in text


def test_each_curve_has_a_line_at_its_slider_in_the_same_colour() -> None:
    picture = figures.shares_figure(shares_result())
    curves = [trace["line"]["color"] for trace in picture["data"]]
    assert [shape["line"]["color"] for shape in picture["layout"]["shapes"]] == curves
    assert [shape["y0"] for shape in picture["layout"]["shapes"]] == [0.15, 0.8, 0.1, 0.1]


def test_the_patterns_table_leaves_out_what_neither_masking_chose() -> None:
    table = figures.patterns_table(patterns_result(epochs=2))
    assert table.columns == ("epoch", "position", "token", "static", "dynamic")
    assert table.rows == (
        (1, 1, "Paris", "mask", "untouched"),
        (1, 2, "is", "untouched", "kept"),
        (2, 1, "Paris", "random", "mask"),
        (2, 2, "is", "untouched", "random"),
    )


def test_the_patterns_sentence_quotes_table_1_and_calls_the_two_close() -> None:
    text = figures.patterns_sentence(patterns_result()).striptags()
    assert text.startswith("Static masking shows 2 different maskings of this text, again and again, dynamic masking ")
    thrice = figures.patterns_sentence(replace(patterns_result(), distinct_static=3)).striptags()
    assert "3 different maskings of this text, some of them more than once" in thrice
    fresh = replace(patterns_result(), distinct_static=4)
    said = figures.patterns_sentence(fresh).striptags()
    assert "4 different maskings of this text (with at least as many copies as epochs none comes back), dynamic" in said
    text = figures.patterns_notes(patterns_result()).striptags()
    assert text.startswith("In 4 epochs.")
    assert "close" in text
    for number in ("78.7 against 78.3", "84.0 against 84.3", "92.9 against 92.5"):
        assert number in text


def test_each_fate_falls_into_its_own_colour_of_the_grid() -> None:
    grid = figures.patterns_figure(patterns_result())["data"][0]
    edges = grid["colorscale"]
    for fate, name in enumerate(figures.FATES):
        place = (fate - grid["zmin"]) / (grid["zmax"] - grid["zmin"])
        below = max(edge for edge in edges if edge[0] <= place)
        above = min((edge for edge in edges if edge[0] > place), default=below, key=lambda edge: edge[0])
        assert f"@{name}" in (below[1], above[1])
        assert 0 < place < 1 or place in (edges[0][0], edges[-1][0])


def test_the_legend_names_the_three_fates() -> None:
    assert_safe(figures.legend(), "kept as it is", ("div", "span"))


def test_the_six_mixtures_are_berts_and_the_caption_says_what_they_say() -> None:
    by_shares = {shares: scores for shares, *scores in BERT_TABLE_8}
    assert all(sum(shares) == 100 for shares in by_shares)
    mnli = [scores[0] for scores in by_shares.values()]
    assert max(mnli) - min(mnli) == pytest.approx(0.8)
    assert min(mnli) == by_shares[0, 0, 100][0]
    assert by_shares[80, 10, 10][2] - by_shares[100, 0, 0][2] == pytest.approx(0.9)
    drawn = str(figures.mixtures())
    assert drawn.count("<tr>") == 7
    assert "Table 8" in drawn
