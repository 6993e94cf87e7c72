"""The comparison as lines, a plane, a grid, sentences and a table, from results made by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.labs.context import layer_figures
from explorer.labs.context import word_figures as figures
from explorer.labs.context.word import STATIC
from explorer.labs.context.word_page import show
from tests.labs.context.samples import context_result
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe

SENSES: tuple[tuple[str | None, ...], ...] = (
    ("river", "river", "money"),
    ("river", "money"),
    ("river", "river"),
    (None, None),
    (None, None, None, None, None),
    ("river", None, "money", "river"),
    tuple(f"sense {k}" for k in range(8)),
    (None,) * 8,
)


def test_the_table_has_a_row_for_each_pair_and_layer() -> None:
    result = context_result()
    table = figures.context_table(result)
    assert table.columns == ("layer", "first", "second", "cosine", "baseline")
    assert len(table.rows) == 4 * 3
    assert table.rows[0] == (STATIC, 1, 2, 1.0, 0.0)
    assert [row[0] for row in table.rows] == sorted(row[0] for row in table.rows)
    assert table.rows[-1] == (2, 2, 3, pytest.approx(0.9 - 0.4 - 0.03), pytest.approx(0.3))


@pytest.mark.parametrize("senses", SENSES)
@pytest.mark.parametrize("adjusted", [False, True])
@pytest.mark.parametrize("layer", [STATIC, 0, 2])
def test_every_figure_draws_for_every_mix_of_senses(senses: tuple[str | None, ...], adjusted: bool, layer: int) -> None:
    result = context_result(senses)
    assert_draws(figures.similarity_figure(result, layer, adjusted))
    assert_draws(layer_figures.plane_figure(result, layer))
    assert_draws(layer_figures.pairs_figure(result, layer, adjusted))
    for sentence in (figures.context_sentence(result), layer_figures.layer_sentence(result, layer)):
        assert_safe(sentence, "layer" if layer != STATIC else "")


def named(figure: Any) -> dict[str, Any]:
    return {trace.name: trace for trace in figure.data if trace.showlegend and trace.name}


def test_same_and_different_senses_have_a_mean_each_and_thin_lines_behind() -> None:
    figure = assert_draws(figures.similarity_figure(context_result(("a", "a", "b", "b")), 1, False))
    means = named(figure)
    assert list(means) == ["two random tokens", "same sense, mean of 2", "different sense, mean of 4"]
    assert tuple(means["same sense, mean of 2"].y) == (1, 1, 0.9, 0.9)
    different = means["different sense, mean of 4"]
    assert different.y[-1] == pytest.approx(0.9 - 0.4 - 0.01 * (2 + 3 + 3 + 4) / 4)
    assert different.line.dash == "dash"
    assert different.line.color != means["same sense, mean of 2"].line.color
    assert sum(trace.opacity == 0.4 for trace in figure.data) == 6
    assert tuple(figure.data[0].x) == (STATIC, 0, 1, 2)
    assert figure.layout.legend.traceorder == "normal", "one row, in the order of the lines"


def test_few_pairs_without_a_sense_have_a_colour_each() -> None:
    figure = assert_draws(figures.similarity_figure(context_result((None, None, None)), 1, False))
    lines = named(figure)
    assert list(lines) == ["two random tokens", "1 and 2", "1 and 3", "2 and 3"]
    assert len({trace.line.color for trace in lines.values()}) == 4


def test_minus_baseline_puts_the_random_tokens_at_zero() -> None:
    result = context_result()
    plain = named(assert_draws(figures.similarity_figure(result, 1, False)))
    lifted = named(assert_draws(figures.similarity_figure(result, 1, True)))
    assert tuple(lifted["two random tokens"].y) == (0, 0, 0, 0)
    for name in set(plain) - {"two random tokens"}:
        expected = [value - view.baseline for value, view in zip(plain[name].y, result.layers, strict=True)]
        assert list(lifted[name].y) == pytest.approx(expected)


def test_the_chosen_layer_is_marked_and_the_static_one_named() -> None:
    figure = assert_draws(figures.similarity_figure(context_result(), 1, False))
    assert (figure.layout.shapes[0].x0, figure.layout.shapes[0].x1) == (1, 1)
    assert tuple(figure.layout.xaxis.ticktext) == ("static", "0", "1", "2")
    deep = assert_draws(figures.similarity_figure(context_result(depth=24), 1, False))
    assert tuple(deep.layout.xaxis.ticktext) == ("static", "4", "8", "12", "16", "20", "24")


def test_the_sentence_tells_the_layer_where_the_senses_part() -> None:
    text = figures.context_sentence(context_result()).striptags()
    said = "The senses of “bank” are furthest apart in layer 2: pairs of one sense are 0.90 alike on average, of two senses 0.47."
    assert text == said
    notes = figures.notes(context_result()).striptags()
    assert "“bank” is one vector in all 3 sentences (cosine 1)" in notes
    assert "stands at the same position in each, so that layer 0 is the same still" in notes
    assert "Two random tokens of layer 2 (of 2) are 0.30." in notes
    for both, said in (
        (0.5, "</strong>” more alike than of two; in layer "),
        (0.51, "furthest apart in"),
    ):
        means = {"same": both, "different": 0.5}
        assert said in figures.context_sentence(_Means(context_result(), means))  # type: ignore[arg-type]


class _Means:
    """A result whose pairs are as alike in every layer as it is told."""

    def __init__(self, result: Any, means: dict[str, float]) -> None:
        self.result, self.means = result, means

    def __getattr__(self, name: str) -> Any:
        return getattr(self.result, name)

    def mean(self, kind: str, layer: int) -> float:
        return self.means[kind]


def test_a_family_without_position_embeddings_is_not_said_to_add_them() -> None:
    text = figures.notes(context_result(adds_positions=False)).striptags()
    assert "this model adds no position to it" in text


def test_without_senses_the_sentence_tells_the_least_alike() -> None:
    text = figures.context_sentence(context_result((None, None, None))).striptags()
    assert text == "“bank” is least alike in layer 2: 0.48 on average."
    notes = figures.notes(context_result((None, None, None))).striptags()
    assert "Sentences 2 and 3 are least alike there, 0.47; two random tokens of layer 2 (of 2) are 0.30." in notes


def test_a_word_written_in_two_ways_is_no_one_vector() -> None:
    text = figures.notes(context_result(one_vector=False)).striptags()
    assert "not written with the same tokens" in text
    assert "one vector" not in text


@pytest.mark.parametrize(
    ("value", "shown"), [(1.0, "1.00"), (0.9999, ">0.99"), (0.994, "0.99"), (-0.25, "−0.25"), (-0.001, "0.00")]
)
def test_a_cosine_that_is_not_quite_one_is_not_shown_as_one(value: float, shown: str) -> None:
    assert figures.two(value) == shown


def test_notes_say_how_the_numbers_were_made() -> None:
    text = figures.notes(context_result()).striptags()
    assert "1,000 random pairs of the 170 other tokens" in text
    assert "12 plain ones" in text
    assert "several pieces" not in text
    odd = figures.notes(context_result(pieces=("ba", "##nk"), times=2, unknown=True)).striptags()
    assert "several pieces (ba ##nk): the mean" in odd
    assert "Sentence 3 has the word 2 times; the first is taken" in odd
    assert "[UNK]" in odd


def test_the_plane_tells_senses_apart_by_colour_and_symbol() -> None:
    figure = assert_draws(layer_figures.plane_figure(context_result(("a", "b", "a", "c")), 2))
    assert [trace.name for trace in figure.data] == ["a", "b", "c"]
    assert (
        len({trace.marker.color for trace in figure.data}) == len({trace.marker.symbol for trace in figure.data}) == 3
    )
    assert tuple(figure.data[0].text) == ("1", "3")
    assert tuple(figure.data[0].x) == (0, 2)
    assert figure.layout.xaxis.title.text == "component 1 (60.0%)"
    assert figure.layout.yaxis.scaleanchor == "x"


def test_numbers_of_points_stand_where_they_cover_nothing() -> None:
    points = [(0.0, 0.0), (0.0, 0.12), (0.1, 0.0), (0.9, 0.9)]
    sides = layer_figures.free_sides(points, 1.0)
    assert sides[0] not in ("top center", "middle right"), "points stand there"
    assert sides[3] == "top center"
    at = [
        (
            layer_figures.PLANE_PIXELS * x + layer_figures.SIDES[side][0],
            layer_figures.PLANE_PIXELS * y + layer_figures.SIDES[side][1],
        )
        for (x, y), side in zip(points, sides, strict=True)
    ]
    assert min(math.dist(one, other) for place, one in enumerate(at) for other in at[:place]) >= layer_figures.NEAR


def test_one_point_is_said_to_be_one() -> None:
    figure = assert_draws(layer_figures.plane_figure(context_result(), STATIC))
    assert figure.layout.annotations[0].text == "all 3 at one point"
    assert figure.layout.xaxis.title.text == "component 1"
    assert "the same" in layer_figures.layer_sentence(context_result(), STATIC).striptags()
    assert layer_figures.layer_notes(context_result(), STATIC) == ""


def test_the_grid_leaves_the_diagonal_out_and_shares_its_scale_among_layers() -> None:
    result = context_result()
    grids = [assert_draws(layer_figures.pairs_figure(result, layer, False)).data[0] for layer in (0, 1, 2)]
    assert len({(grid.zmin, grid.zmax) for grid in grids}) == 1
    assert grids[2].zmin == pytest.approx(0.47)
    assert all(grids[2].z[k][k] is None for k in range(3))
    assert grids[2].z[0][2] == grids[2].z[2][0] == pytest.approx(0.48)
    numbers = assert_draws(layer_figures.pairs_figure(result, 2, False)).data[1]
    assert len(numbers.text) == 6
    lifted = assert_draws(layer_figures.pairs_figure(result, 2, True)).data[0]
    assert lifted.zmin == -lifted.zmax
    assert lifted.z[0][2] == pytest.approx(0.18)


def test_the_layer_s_sentence_counts_neighbours_of_the_same_sense() -> None:
    assert "same sense for 2 of 2" in layer_figures.layer_sentence(context_result(), 2).striptags()
    text = layer_figures.layer_notes(context_result(), 2).striptags()
    assert "Sentences 1 and 2 are most alike (0.90), 2 and 3 least (0.47)" in text
    assert "The plane holds 90.0% of the variance" in text
    assert "The two are 0.90 alike" in layer_figures.layer_notes(context_result(("a", "a")), 2)
    without = layer_figures.layer_sentence(context_result((None, None, None)), 2).striptags()
    assert without == "In layer 2 sentences 1 and 2 are most alike."
    assert "the two vectors are 0.90 alike" in layer_figures.layer_sentence(context_result(("a", "a")), 2).striptags()


@pytest.mark.parametrize("text", HOSTILE)
def test_a_visitor_s_text_stays_text(text: str) -> None:
    result = context_result((text, "b", text), text=f"{text} bank {text}", pieces=(text,))
    assert_safe(figures.sentence_list(result), f"{text} ", ("ol", "li", "strong", "span"))
    assert_safe(figures.notes(result), "Baseline", ("p", "strong"))
    assert_safe(figures.context_sentence(result), "bank")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    plane = assert_draws(layer_figures.plane_figure(result, 2))
    assert plane.data[0].customdata[0].startswith(f"1. {escaped[:8]}")
    assert "<" not in str(plane.data[0].customdata) + str(plane.data[0].name)
    lines = assert_draws(figures.similarity_figure(result, 2, False))
    assert not any("<" in str(trace.customdata) for trace in lines.data)
    grid = assert_draws(layer_figures.pairs_figure(result, 2, False))
    assert "<" not in str(grid.data[0].y)


def test_the_page_gets_a_value_for_every_output_and_a_layer_that_exists() -> None:
    result = context_result()
    for layer in (None, STATIC, 2, 40, -9):
        shown = show(result, layer, "adjusted")
        assert len(shown) == 9
        assert shown[2]["maximum"] == 2
    assert show(result, 40)[2]["value"] == 2
    assert show(result, -9)[2]["value"] == STATIC
    assert "value" not in show(result, 1)[2]
    assert "layer 2" in show(result)[3]
