"""Similarity, placement, amplification and the rank sweep as pictures, sentences and tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.delta import amplification_figures, directions_figures, sweep_figures
from explorer.labs.delta.schema import BASES, RankPoint, RankSweepResult
from tests.labs.delta.samples import amplified, placed, run_factors, similarity
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe


def sweep(*points: tuple[int, float | None]) -> RankSweepResult:
    made = points or ((8, 0.86), (1, 0.84), (64, 0.85))
    return RankSweepResult("SST-2", "accuracy", tuple(RankPoint(rank, score, 1000 * rank) for rank, score in made))


def test_the_similarity_table_has_a_row_for_each_pair_of_counts() -> None:
    table = directions_figures.similarity_table(similarity())
    assert table.columns == ("i", "j", "phi")
    assert [row[:2] for row in table.rows] == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert table.rows[4][2] == pytest.approx(0.9 / 4)


@pytest.mark.parametrize(("ra", "rb"), [(1, 1), (2, 3), (8, 64)])
def test_the_heatmaps_share_one_scale_scaled_to_the_data_with_chance_as_its_middle(ra: int, rb: int) -> None:
    made = directions_figures.similarity_figure(similarity(ra, rb))
    figure = assert_draws(made)
    grids = figure.data[:2]
    assert [len(trace.z) for trace in grids] == [ra, ra]
    assert [trace.coloraxis for trace in grids] == ["coloraxis", "coloraxis"]
    most = max(abs(gap) for trace in grids for row in trace.z for gap in row)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (-most, most)
    assert figure.data[0].z[0][0] == pytest.approx(0.9 - 1 / 16)
    assert figure.data[0].customdata[0][0] == pytest.approx((0.9, 1 / 16))
    assert figure.layout.coloraxis.colorscale[1][0] == 0.5  # the paper
    assert figure.layout.yaxis.autorange == "reversed"
    assert len(figure.data[2:]) == (2 if rb <= directions_figures.CELLS_WITH_TEXT else 0), "numbers where there is room"
    assert made["narrow"]["yaxis2"]["domain"][1] < made["narrow"]["yaxis"]["domain"][0]


@pytest.mark.parametrize("basis", BASES)
def test_the_similarity_sentence_sets_the_strongest_direction_beside_chance(basis: str) -> None:
    text = directions_figures.similarity_sentence(similarity(basis=basis)).striptags()
    assert text.endswith(
        "30.0% of the strongest direction of first lies in the space of second's directions (chance: 18.8%)."
    )
    text = directions_figures.similarity_notes(similarity(basis=basis)).striptags()
    assert (
        "30.0% of the strongest direction of first lies in the space of second's 3 directions (chance: 18.8%)" in text
    )
    assert "Of all 2 directions it is 15.0% (chance: 18.8%)" in text
    assert text.count(". ") == 1, "two sentences"
    facts = directions_figures.similarity_facts(similarity(basis=basis)).striptags()
    assert "φ(1, 1) = 0.9" in facts
    assert BASES[basis] in facts


def test_where_the_first_has_more_directions_the_whole_is_no_share_of_it() -> None:
    assert "φ = 0.15" in directions_figures.similarity_notes(similarity(3, 2)).striptags()


def test_the_placement_bars_are_multiples_of_chance() -> None:
    figure = assert_draws(directions_figures.placement_figure(placed()))
    assert [tuple(trace.y) for trace in figure.data] == [(3, 1), (0.5, 1.5)]
    assert tuple(figure.data[0].x) == (2.5, 6.5)
    assert figure.layout.shapes[0].y0 == 1
    table = directions_figures.placement_table(placed())
    assert table.columns == ("first", "last", "right", "expected_right", "left", "expected_left")
    assert table.rows == ((1, 4, 0.75, 0.25, 0.25, 0.5), (5, 8, 0.25, 0.25, 0.75, 0.5))


def test_the_placement_sentence_reads_the_first_bin_and_what_lies_outside() -> None:
    text = directions_figures.placement_sentence(placed()).striptags()
    said = (
        "W's strongest directions hold 3 times as much of ΔW as chance on the input side, 0.5 times on the output side."
    )
    assert text.endswith(said)
    text = directions_figures.placement_notes(placed()).striptags()
    assert "W's 4 strongest directions on its input side hold 75.0% of ΔW's energy, 3 times" in text
    assert "on its output side 25.0%, 0.5 times" in text
    assert "not square" not in text
    assert "20.0% lies where W, which is not square, has no direction on its input side" in (
        directions_figures.placement_notes(placed(0.2)).striptags()
    )
    nowhere = replace(placed(), right=(0.0, 0.0), left=(0.0, 0.0))
    assert "ΔW is zero" in directions_figures.placement_sentence(nowhere)
    assert directions_figures.placement_notes(nowhere) == ""
    assert_draws(directions_figures.placement_figure(nowhere))


def test_the_amplification_table_has_the_paper_s_three_rows() -> None:
    table = amplification_figures.amplification_table(amplified())
    assert table.columns == ("directions", "projected_norm", "factor")
    assert [row[0] for row in table.rows] == ["ΔW", "W", "random"]
    assert table.rows[0][2] == pytest.approx(21.59, abs=0.01)


def test_a_bar_runs_from_each_projection_to_the_norm_of_the_update() -> None:
    figure = assert_draws(amplification_figures.amplification_figure(amplified()))
    assert [tuple(trace.x) for trace in figure.data] == [(0.32, 6.91), (21.67, 6.91), (0.02, 6.91)]
    assert figure.layout.shapes[0].x0 == 6.91
    assert tuple(figure.layout.xaxis.range) == (-2, 2)
    assert any("factor 21.6" in note.text for note in figure.layout.annotations)


def test_the_amplification_sentence_reads_the_factor_and_chance() -> None:
    text = amplification_figures.amplification_sentence(amplified()).striptags()
    assert text.endswith("in its own directions ΔW is 21.6 times as strong as W.")
    text = amplification_figures.amplification_notes(amplified()).striptags()
    assert "amplifies them 21.6-fold" in text
    assert "16 times as strongly as random directions" in text
    assert "dense" not in text
    base = amplified()
    for factor, said in (
        (1.0, "does not amplify them: it has 1 of W's strength there"),
        (1.01, "amplifies them 1.01-fold"),
    ):
        weak = replace(base, projections=(replace(base.projections[0], factor=factor), *base.projections[1:]))
        assert said in amplification_figures.amplification_notes(weak).striptags()
        headline = amplification_figures.amplification_sentence(weak)
        assert ("no stronger than W: it has " in headline) is (factor <= 1)


def test_fewer_directions_than_the_rank_are_compared_like_for_like() -> None:
    text = amplification_figures.amplification_notes(amplified(low_rank=False)).striptags()
    assert "in its own first directions ΔW has a norm of 3.2, and W has 0.32" in text
    assert "amplifies them 10-fold" in text
    assert "hold 21.4% of the energy of ΔW, whose norm is 6.91 in all" in text
    assert "hold" not in amplification_figures.amplification_notes(amplified()).striptags().split("of its norm")[1]
    drawn = amplification_figures.amplification_figure(amplified(low_rank=False))
    assert drawn["data"][0]["x"] == [0.32, 3.2]
    assert "more general update means" not in amplification_figures.factors_notes([run_factors()])


def test_directions_in_which_w_is_zero_have_no_factor() -> None:
    base = amplified()
    first = replace(base.projections[0], projected_norm=0.0, factor=None)
    none = replace(base, projections=(first, *base.projections[1:]))
    assert "no factor" in amplification_figures.amplification_sentence(none)
    assert amplification_figures.amplification_notes(none) == ""
    assert len(assert_draws(amplification_figures.amplification_figure(none)).data) == 2
    assert amplification_figures.amplification_table(none).rows[0] == ("ΔW", 0.0, None)


def test_two_runs_have_a_line_each_in_both_panels() -> None:
    runs = [run_factors(), run_factors("full", 3.0, 0.25)]
    figure = assert_draws(amplification_figures.factors_figure(runs))
    assert [(trace.name, tuple(trace.y)) for trace in figure.data] == [
        ("LoRA", (20, 21, 22)),
        ("LoRA", (1, 1, 1)),
        ("full", (3, 4, 5)),
        ("full", (0.25, 0.25, 0.25)),
    ]
    assert [trace.showlegend for trace in figure.data] == [None, False, None, False]
    assert len({trace.line.color for trace in figure.data}) == 2
    text = amplification_figures.factors_sentence(runs).striptags()
    assert text == "Mean over layers: LoRA amplifies 21-fold, full amplifies 4-fold."
    text = amplification_figures.factors_notes(runs).striptags()
    assert "LoRA amplifies 21-fold in its first 4 directions, with 100% of its energy there" in text
    assert "full amplifies 4-fold in its first 4 directions, with 25.0% of its energy there" in text
    table = amplification_figures.factors_table(runs)
    assert table.columns == ("run", "module", "r", "layer", "factor", "energy_share", "emphasis")
    assert table.rows[3] == ("full", "query", 4, 0, 3.0, 0.25, 1.5)


def test_the_sweep_is_drawn_by_rank_and_names_the_best() -> None:
    figure = assert_draws(sweep_figures.sweep_figure(sweep()))
    assert tuple(figure.data[0].x) == ("1<br>1K", "8<br>8K", "64<br>64K")
    assert tuple(figure.data[0].y) == (0.84, 0.86, 0.85)
    text = sweep_figures.sweep_sentence(sweep()).striptags()
    assert text.endswith(": the best accuracy is 0.860 at r = 8.")
    notes = sweep_figures.sweep_notes(sweep()).striptags()
    assert notes.startswith(
        "r = 1 reaches 0.840 with 64 times fewer trained parameters than r = 64. All lie within 0.020."
    )
    assert sweep_figures.sweep_table(sweep()).rows == ((1, 0.84, 1000), (8, 0.86, 8000), (64, 0.85, 64000))


def test_a_sweep_under_way_shows_what_there_is() -> None:
    some = sweep((1, 0.8), (2, None))
    assert tuple(assert_draws(sweep_figures.sweep_figure(some)).data[0].y) == (0.8,)
    assert sweep_figures.sweep_sentence(some).striptags().endswith("0.800 at r = 1.")
    assert sweep_figures.sweep_notes(some).striptags().startswith("One seed, and as many epochs")
    nothing = sweep((1, None))
    assert_draws(sweep_figures.sweep_figure(nothing))
    assert "No run" in sweep_figures.sweep_sentence(nothing)
    assert sweep_figures.sweep_notes(nothing) == ""


def test_ranks_that_do_alike_are_said_to() -> None:
    alike = sweep_figures.sweep_sentence(sweep((1, 0.8), (2, 0.8))).striptags()
    assert alike.endswith(": every rank reaches the same accuracy, 0.800.")
    shared = sweep_figures.sweep_sentence(sweep((1, 0.7), (2, 0.8), (4, 0.8))).striptags()
    assert shared.endswith(": the best accuracy is 0.800 at r = 2 already.")


@pytest.mark.parametrize("text", HOSTILE)
def test_the_names_of_runs_stay_text(text: str) -> None:
    assert_safe(directions_figures.similarity_sentence(similarity(name=text)), text)
    assert_safe(amplification_figures.factors_sentence([run_factors(text)]), text)
    layout = directions_figures.similarity_figure(similarity(name=text))["layout"]
    drawn = [layout["xaxis"]["title"]["text"], layout["yaxis"]["title"]["text"]]
    for trace in amplification_figures.factors_figure([run_factors(text)])["data"]:
        drawn += [trace["name"], trace["hovertemplate"].replace("<extra>", "").replace("</extra>", "")]
    assert all("<" not in shown for shown in drawn)
