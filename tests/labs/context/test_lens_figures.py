"""The lens as a table of tokens, lines, chips and sentences, from results made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.charts.words import ordinal
from explorer.labs.context import lens_figures
from explorer.labs.context.lens import LensResult
from explorer.labs.context.lens_page import show
from tests.labs.context.samples import lens_place, lens_result
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe


def test_the_table_has_a_row_for_each_layer_place_and_rank() -> None:
    result = lens_result((lens_place(2), lens_place(3)))
    table = lens_figures.lens_table(result)
    assert table.columns == ("layer", "position", "rank", "token", "probability")
    assert len(table.rows) == 2 * 3 * 4
    assert table.rows[0] == (0, 2, 1, "token 1", 0.5)
    assert table.rows[-4] == (2, 3, 1, "are", 0.5)


@pytest.mark.parametrize("top_k", [1, 3, 4, 10, 20])
@pytest.mark.parametrize("ranks", [(9, 3, 1), (1, 1, 1), (30000, *[5] * 11, 1), (2, *[1] * 24)])
def test_every_figure_draws(top_k: int, ranks: tuple[int, ...]) -> None:
    place = lens_place(ranks=ranks, top_k=top_k)
    result = lens_result((place,), top_k=top_k)
    assert_draws(lens_figures.lens_figure(result, place))
    assert_draws(lens_figures.depth_figure(result, place))
    assert_safe(lens_figures.lens_sentence(result, place), "the model answers “are”")


def test_a_row_a_layer_and_a_column_a_rank() -> None:
    place = lens_place()
    figure = assert_draws(lens_figures.lens_figure(lens_result((place,)), place))
    cells, texts = figure.data
    assert len(cells.z) == 3
    assert [tuple(row) for row in cells.customdata][1] == ("token 1", "is", "are", "token 4")
    assert texts.text[0] == "token 1<br>50.0%"
    assert list(zip(texts.x, texts.y, strict=True))[:5] == [(1, 0), (2, 0), (3, 0), (4, 0), (1, 1)]
    assert tuple(figure.layout.yaxis.range) == (2.5, -0.5)
    assert tuple(figure.layout.xaxis.ticktext) == ("rank 1", "2", "3", "4")


def test_a_phone_shows_the_first_ranks() -> None:
    place = lens_place()
    assert lens_figures.lens_figure(lens_result((place,)), place)["narrow"]["xaxis"]["range"] == [0.5, 3.5]
    few = lens_place(top_k=2)
    assert "narrow" not in lens_figures.lens_figure(lens_result((few,), top_k=2), few)


def test_the_answer_is_outlined_where_it_shows_and_the_followed_word_dotted() -> None:
    place = lens_place(ranks=(9, 3, 1))
    shapes = assert_draws(lens_figures.lens_figure(lens_result((place,)), place)).layout.shapes
    places = {(round(shape.x0 + 0.48), round(shape.y0 + 0.46), shape.line.dash) for shape in shapes}
    assert places == {(3, 1, "solid"), (1, 2, "solid"), (2, 1, "dot"), (2, 2, "dot")}
    alone = assert_draws(lens_figures.lens_figure(lens_result((place,), follow="are"), place)).layout.shapes
    assert {shape.line.dash for shape in alone} == {"solid"}


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ((9, 3, 1), "only in the last layer"),
        ((9, 1, 1), "from layer 1 on"),
        ((9, 4, 1, 1), "from layer 2 on"),
        ((1, 1, 1), "already in layer 0"),
        ((1,), "already in layer 0"),
    ],
)
def test_the_sentence_tells_from_where_the_answer_leads(ranks: tuple[int, ...], said: str) -> None:
    place = lens_place(ranks=ranks)
    text = lens_figures.lens_sentence(lens_result((place,)), place).striptags()
    assert text == f"For the blank the model answers “are”, which leads {said}."


@pytest.mark.parametrize(
    ("ranks", "said"),
    [
        ((9, 3, 1), "; read through the same head, it first comes among the top 4 in layer 1."),
        ((9, 1, 1), " has 50.0%. "),
        ((1, 1, 1), " has 50.0%. "),
        ((9, 9, 1), " has 50.0%. "),
    ],
)
def test_the_notes_tell_where_the_answer_appears_and_how_the_followed_word_stands(
    ranks: tuple[int, ...], said: str
) -> None:
    place = lens_place(ranks=ranks)
    text = lens_figures.lens_notes(lens_result((place,)), place).striptags()
    assert "In the last layer, 2, “are” has 50.0%" in text
    assert said in text
    assert "“is” ends 2nd of 28,996 (25.0%) and stands highest in layer" in text


def test_the_sentence_fits_the_question() -> None:
    place = lens_place(follow=False)
    for asked, start in (
        ("continue", "After the last token the model expects"),
        ("replaced", "The token at position 2 is"),
    ):
        result = lens_result((place,), asked=asked, follow=None)
        assert lens_figures.lens_sentence(result, place).striptags().startswith(start)
        assert "28,996" not in lens_figures.lens_notes(result, place)


@pytest.mark.parametrize(("number", "said"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (11, "11th"), (1022, "1,022nd")])
def test_ordinals(number: int, said: str) -> None:
    assert ordinal(number) == said


def test_the_lines_are_probability_rank_and_divergence() -> None:
    place = lens_place()
    figure = assert_draws(lens_figures.depth_figure(lens_result((place,)), place))
    assert [trace.name for trace in figure.data] == ["are", "are", "is", "is", "KL"]
    assert tuple(figure.data[1].y) == (9, 3, 1)
    assert tuple(figure.data[4].y) == (4, 1, 0)
    assert figure.layout.yaxis2.type == "log"
    assert figure.layout.yaxis2.autorange == "reversed"
    of_two = replace(lens_result((place,)), classes=2)
    assert assert_draws(lens_figures.depth_figure(of_two, place)).layout.yaxis2.type == "linear"
    assert "4.00 bits (KL divergence)" in lens_figures.depth_sentence(place)
    assert "in layer 1 no more than half of that is left" in lens_figures.depth_sentence(place)


def test_a_divergence_that_stays_is_said_to_stay() -> None:
    place = lens_place()
    late = replace(place, layers=(place.layers[0], replace(place.layers[1], divergence=3.0), place.layers[2]))
    assert "layer 1 is 3.00 bits from it, more than half" in lens_figures.depth_sentence(late)
    nothing = replace(place, layers=tuple(replace(reading, divergence=0.0) for reading in place.layers))
    assert lens_figures.depth_sentence(nothing) == "The distribution of layer 0 is the final one already."
    two = lens_result((place, lens_place(3)))
    assert "At position 2 the model answers “are”" in lens_figures.lens_sentence(two, place).striptags()


def test_the_places_that_are_not_shown_can_be_pressed() -> None:
    one = lens_figures.lens_chips(lens_result(), lens_place())["chips"]
    assert [chip["position"] for chip in one] == [None] * 5
    assert [chip["style"] for chip in one] == ["special", "plain", "mask", "plain", "special"]
    places = (lens_place(1), lens_place(2))
    several = lens_figures.lens_chips(lens_result(places), places[1])["chips"]
    assert [chip["position"] for chip in several] == [None, 1, None, None, None]
    other = lens_figures.lens_chips(lens_result(places), places[0])["chips"]
    assert [chip["style"] for chip in other] == ["special", "mask", "plain", "plain", "special"]
    assert [chip["pressed"] for chip in several] == [False, False, True, False, False]
    assert [chip["below"] for chip in several] == ["", "are", "are", "", ""]


def test_notes_carry_the_caution_and_what_was_done() -> None:
    def notes(result: LensResult) -> str:
        return lens_figures.lens_notes(result, result.places[0]).striptags()

    text = notes(lens_result())
    assert "learned to read the last layer only" in text
    assert "dotted" in text
    assert "cut there" in notes(lens_result(cut=True, follow=None))
    assert "original or replaced" in notes(lens_result(asked="replaced"))
    assert "another mask" in notes(lens_result((lens_place(1), lens_place(2))))
    assert notes(lens_result(refused="Not this word.")).endswith("Not this word.")


@pytest.mark.parametrize("text", HOSTILE)
def test_tokens_stay_text(text: str) -> None:
    place = lens_place(answer=text)
    result = lens_result((place,), text=text, follow=text, refused=text)
    assert_safe(lens_figures.lens_sentence(result, place), text)
    assert_safe(lens_figures.lens_notes(result, place), text, ("p",))
    for figure in (lens_figures.lens_figure(result, place), lens_figures.depth_figure(result, place)):
        for trace in assert_draws(figure).data:
            shown = str(trace.text) + str(trace.customdata) + str(trace.name)
            assert "<" not in shown.replace("<br>", "")


@pytest.mark.parametrize(
    ("token", "shown"), [(" cat", "cat"), ("\n", "'\\n'"), ("x" * 30, "x" * 13 + "…"), ("<b>", "&lt;b&gt;")]
)
def test_a_token_s_name_is_never_empty_markup_or_long(token: str, shown: str) -> None:
    assert lens_figures.token_name(token) == shown


def test_the_page_gets_a_value_for_every_output() -> None:
    places = (lens_place(2, "are"), lens_place(3, "was"))
    result = lens_result(places)
    assert "position 3" in show(result, 3)[1]
    for place in (None, -1, 77):
        assert "position 2" in show(result, place)[1]
    nothing = LensResult("m", "mask", False, 0, None, "", 0, (), (), "Nothing is masked: put [MASK].")
    assert len(show(nothing)) == len(show(result)) == 6
    assert "Nothing is masked" in show(nothing)[1]
    assert show(nothing)[2] == show(nothing)[5] == {}
