"""Heads as pictures, sentences and tables, from results made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.labs.attention import head_arcs_figures as arcs_figures
from explorer.labs.attention import head_figures as figures
from explorer.labs.attention import switch as switch_figures
from explorer.labs.attention.head import AttentionResult, HeadFacts, Square, StatisticsResult, TokenPlace
from explorer.labs.attention.switch import AblateResult, AnswerChange, EachHeadResult
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe, written


def square(size: int, offset: int = 0) -> Square:
    """Row i looks at (i + offset) with 0.7 and shares the rest out."""
    rest = 0.3 / max(1, size - 1)
    return Square.of([[0.7 if j == (i + offset) % size else rest for j in range(size)] for i in range(size)])


def attention(
    size: int = 5, pair: bool = False, masked: bool = False, name: str = "word", **facts: float
) -> AttentionResult:
    tokens = tuple(
        TokenPlace(i, f"{name}{i}", f"{name}{i}", False, i in (0, size - 1), masked and i == 2) for i in range(size)
    )
    statistics = {"entropy": 1.5, "to_previous": 0.1, "to_next": 0.1, "to_itself": 0.1, **facts}
    special = statistics.pop("to_special", 0.2)
    return AttentionResult(
        "bert-small", tokens, 3 if pair else None, 6, 12, 4, 2, square(size, 1), square(size),
        square(size, 2) if masked else None, HeadFacts(tuple(statistics.items()), special), False,
    )  # fmt: skip


def statistics(layers: int = 6, heads: int = 12) -> StatisticsResult:
    def grid(scale: float) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(scale * (layer * heads + head) / (layers * heads) for head in range(heads)) for layer in range(layers)
        )

    return StatisticsResult("bert-small", 9, (("entropy", grid(3.0)), ("to_next", grid(1.0))), "[CLS]", "[SEP]")


def ablated(
    question: str = "mask", off: tuple[tuple[int, int], ...] = ((1, 2),), answer: str = "Paris"
) -> AblateResult:
    tokens = tuple(TokenPlace(i, f"t{i}", f"t{i}", False, False) for i in range(5))
    answers = (AnswerChange(3, answer, 0.6, 0.2), AnswerChange(3, "London", 0.1, 0.5))
    return AblateResult("bert-small", question, "title", tokens, 2, 4, off, False, answers, 0.25 if off else 0.0)


def test_arcs_are_the_largest_weights_and_name_the_strongest_link() -> None:
    result = attention(5)
    arcs = arcs_figures.attention_arcs(result)
    assert len(arcs["links"]) == 25, "each weighs more than the least that is drawn"
    assert all(weight == round(result.weights.row(i)[j], 4) for i, j, weight in arcs["links"])
    assert [link[2] for link in arcs["links"]] == sorted(link[2] for link in arcs["links"])
    assert (arcs["special"], arcs["count"]) == ([0, 4], 5)
    assert arcs["strongest"] in ((1, 2), (2, 3)), "from a word to another"
    assert "strongest link" in arcs["described"]


def test_arcs_of_a_part_and_of_a_long_text() -> None:
    pair = arcs_figures.attention_arcs(attention(6, pair=True), "ab")
    assert {(i < 3, j >= 3) for i, j, _ in pair["links"]} == {(True, True)}
    assert arcs_figures.attention_arcs(attention(arcs_figures.MOST_ARCHED + 1)) == {}
    long = arcs_figures.attention_arcs(attention(arcs_figures.MOST_ARCHED))
    assert 0 < len(long["links"]) <= arcs_figures.MOST_ARCS
    assert min(weight for *_, weight in long["links"]) >= arcs_figures.LEAST_ARC


@pytest.mark.parametrize("view", figures.VIEWS)
@pytest.mark.parametrize("part", figures.PARTS)
@pytest.mark.parametrize("size", [5, 60, 200])
def test_every_view_of_every_part_draws(view: str, part: str, size: int) -> None:
    result = attention(size, pair=True, masked=True)
    figure = assert_draws(figures.attention_figure(result, view, part))
    rows = {"a": 3, "b": size - 3}.get(part[0], size) if part != "all" else size
    columns = {"a": 3, "b": size - 3}.get(part[1], size) if part != "all" else size
    assert len(figure.data) == (2 if view == "rollout" else 1)
    assert (len(figure.data[0].z), len(figure.data[0].z[0])) == (rows, columns)
    assert len(figure.layout.xaxis.tickvals) <= figures.MOST_TICKS


@pytest.mark.parametrize(
    ("names", "panels", "angle"),
    [
        (["it", "was"] * 3, 1, 0),
        (["because", "it"] * 4, 1, 0),
        (["because", "it"] * 4, 2, -45),
        (["because"] * 30, 1, -90),
    ],
)
def test_names_that_would_touch_are_turned(names: list[str], panels: int, angle: int) -> None:
    assert figures._angle(names, panels) == angle


def test_the_heatmap_holds_the_weights() -> None:
    result = attention()
    figure = assert_draws(figures.attention_figure(result))
    assert figure.data[0].z[1][2] == pytest.approx(0.7)
    assert figure.data[0].x[2] == "2 word2"
    assert (figure.data[0].zmin, figure.data[0].zmax) == (0, 1)


def test_change_is_after_minus_before_on_a_scale_with_zero_in_the_middle() -> None:
    figure = assert_draws(figures.attention_figure(attention(masked=True), "change"))
    assert figure.data[0].z[0][1] == pytest.approx(0.7 - 0.075, abs=1e-4)
    assert figure.data[0].z[0][2] == pytest.approx(0.075 - 0.7, abs=1e-4)
    assert figure.data[0].zmin == -figure.data[0].zmax


def test_without_a_mask_there_is_no_change_to_draw() -> None:
    assert figures.attention_figure(attention(), "change")["data"] == []
    assert "Press a token to hide it" in figures.attention_notes(attention(), "change")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"to_previous": 0.8}, "looks mostly at the previous token"),
        ({"to_next": 0.8}, "looks mostly at the next token"),
        ({"to_itself": 0.8}, "looks mostly at the token itself"),
        ({"to_special": 0.9}, "spends 90.0% of its attention on the special tokens"),
        ({}, "spreads over about 2.8 tokens a row."),
    ],
)
def test_the_sentence_names_a_head_s_habit(facts: dict[str, float], said: str) -> None:
    text = figures.attention_sentence(attention(**facts)).striptags()
    assert said in text
    assert "Layer 4, head 2" in text


def test_what_the_causal_mask_forces_is_no_habit_nor_is_a_single_row() -> None:
    def said(rows: list[list[float]], causal: bool = True) -> str:
        size = len(rows)
        one = replace(attention(size, to_itself=1.0, to_previous=1.0), weights=Square.of(rows), causal=causal)
        return figures.attention_sentence(one).striptags()

    assert "looks mostly" not in said([[1.0]] * 1), "the only token has nothing else to look at"
    assert "looks mostly" not in said([[1.0, 0.0], [0.9, 0.1]])
    forced = [[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0.6, 0.3, 0.1, 0], [0.6, 0.2, 0.1, 0.1]]
    assert "itself" not in said(forced)
    previous = [[1, 0, 0, 0], [0.9, 0.1, 0, 0], [0.2, 0.7, 0.1, 0], [0.1, 0.1, 0.7, 0.1]]
    assert "looks mostly at the previous token" in said(previous)


def test_the_strongest_link_is_between_two_words() -> None:
    text = figures.attention_sentence(attention()).striptags()
    assert "“word1” looks at “word2” with 70.0%" in text or "“word2” looks at “word3” with 70.0%" in text


def test_a_mask_is_said_with_what_it_moved() -> None:
    text = figures.attention_notes(attention(masked=True), "change").striptags()
    assert "Hidden from the model: “word2”." in text
    assert "moved 62.5% of a row's attention" in text


def test_chips_can_be_pressed_but_special_ones() -> None:
    chips = figures.attention_chips(attention(masked=True))["chips"]
    assert [chip["position"] for chip in chips] == [None, 1, 2, 3, None]
    assert [chip["pressed"] for chip in chips] == [False, False, True, False, False]


def test_statistics_draw_and_are_read_out() -> None:
    figure = assert_draws(figures.statistics_figure(statistics(), "to_next"))
    assert figure.data[0].zmax == 1
    assert written(figure)["11", "5"] == "99"
    text = figures.statistics_sentence(statistics(), "to_next").striptags()
    assert "share to the next token: highest in layer 5, head 11 (98.6%)" in text
    notes = figures.statistics_notes(statistics(), "to_next").striptags()
    assert notes.startswith("On this text of 9 tokens the mean of layer 0 is ")
    even = replace(statistics(), grids=(("to_next", ((0.25, 0.25), (0.25, 0.25))),))
    assert figures.statistics_sentence(even, "to_next").striptags().endswith(": 25.0% in every head.")
    assert_draws(figures.statistics_figure(statistics(24, 16), "entropy"))


def test_a_model_without_a_separator_says_so() -> None:
    assert figures.statistics_figure(statistics(), "to_separator")["data"] == []
    assert "no separator" in figures.statistics_sentence(statistics(), "to_separator")
    assert figures.statistics_notes(statistics(), "to_separator") == ""


def test_two_bars_for_each_answer() -> None:
    figure = assert_draws(switch_figures.ablate_figure(ablated()))
    assert [tuple(trace.x) for trace in figure.data] == [(0.6, 0.1), (0.2, 0.5)]
    text = switch_figures.ablate_sentence(ablated()).striptags()
    assert text == "Without the heads that are off “Paris” goes from 60.0% to 20.0%, and “London” leads now."
    assert switch_figures.ablate_notes(ablated()).striptags() == (
        "Heads off: 1 of 8. “London” has 50.0% now. The whole answer moved by KL = 0.361 bits."
    )
    assert len(switch_figures.ablate_figure(ablated(off=()))["data"]) == 1, "no bars of heads off while all are on"
    assert switch_figures.ablate_sentence(ablated(off=())).striptags() == "All 8 heads are on, and “Paris” has 60.0%."
    assert "Press heads in the grid" in switch_figures.ablate_notes(ablated(off=()))


def test_an_answer_that_stays_is_said_to_and_several_places_are_counted() -> None:
    stays = replace(
        ablated(), shared=True, answers=(AnswerChange(3, "Paris", 0.6, 0.6), AnswerChange(4, "x", 0.9, 0.1))
    )
    said = switch_figures.ablate_sentence(stays).striptags()
    assert said == "Without the heads that are off “Paris” stays at 60.0%."
    notes = switch_figures.ablate_notes(stays).striptags()
    assert "bits (mean of 2 places; the sentence is about the first). One layer serves every depth here" in notes


def test_replaced_tokens_are_named_by_the_token() -> None:
    assert switch_figures.ablate_table(ablated("replaced")).rows[0][1] == "t3"
    said = switch_figures.ablate_sentence(ablated("replaced")).striptags()
    assert said == "Without the heads that are off the chance that “t3” was replaced goes from 60.0% to 20.0%."
    on = switch_figures.ablate_sentence(ablated("replaced", off=())).striptags()
    assert on == "All 8 heads are on, and the chance that “t3” was replaced is 60.0%."


def test_each_head_draws_and_says_who_matters() -> None:
    result = EachHeadResult("bert-small", 3, "Paris", 0.5, ((0.5, 0.1), (0.7, 0.499)))
    figure = assert_draws(switch_figures.each_head_figure(result))
    assert figure.data[0].z[0][1] == pytest.approx(-0.4)
    assert figure.data[0].zmin == -figure.data[0].zmax == pytest.approx(-0.4)
    text = switch_figures.each_head_sentence(result).striptags()
    assert text == "“Paris” leans most on layer 0, head 1: without it, it falls from 50.0% to 10.0%."
    assert switch_figures.each_head_notes(result).striptags() == (
        "“Paris” has 50.0% with all heads. Without layer 1, head 0 it would be 70.0%. "
        "2 of 4 heads change it by less than a percentage point when they go alone."
    )


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (((0.5, 0.6),), "No head that goes alone lowers “Paris” from its 50.0%."),
        (((0.5, 0.49999),), "“Paris” leans most on layer 0, head 1: without it, it still has 50.0%."),
    ],
)
def test_each_head_where_none_matters(after: tuple[tuple[float, ...], ...], said: str) -> None:
    result = EachHeadResult("bert-small", 3, "Paris", 0.5, after)
    assert switch_figures.each_head_sentence(result).striptags() == said


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_a_text_stays_text(text: str) -> None:
    result = attention(name=text)
    assert_safe(figures.attention_sentence(result), text)
    assert_safe(figures.attention_notes(result), "Entropy", ("p",))
    assert_draws(figures.attention_figure(result))
    plotted: Any = figures.attention_figure(result)
    assert "<" not in "".join(plotted["layout"]["xaxis"]["ticktext"] + plotted["data"][0]["x"])
    assert_safe(switch_figures.ablate_sentence(ablated(answer=text)), text)
    each = EachHeadResult("bert-small", 3, text, 0.5, ((0.5, 0.1),))
    assert_safe(switch_figures.each_head_notes(each), text, ("p",))
    assert "<" not in "".join(switch_figures.ablate_figure(ablated(answer=text))["layout"]["yaxis"]["ticktext"])
