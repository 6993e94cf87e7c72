"""One row as steps, without a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markupsafe import Markup

from explorer.labs.pretrain import row_figures as figures
from explorer.labs.pretrain.row import Segment
from explorer.labs.pretrain.row_loss_figures import row_figure
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.pretrain.samples import row, token
from tests.rows import each_row

TAGS = ("strong", "h2", "span", "div", "p", "ol", "li", "b")


def plain(said: Markup) -> str:
    return " ".join(said.striptags().split())


def test_the_drawing_says_who_decided_and_where_both_segments_come_from() -> None:
    said = plain(figures.drawn_view(row()))
    assert "The coin says: is next. A is sentence 1 of document 1, B is sentence 2 of document 1." in said
    assert "are cut" not in said
    assert "same text" not in said
    apart = row(follows=False, tossed=False, b=Segment(1, 0, 3), cut=12, room=24)
    said = plain(figures.draw_line(apart))
    assert "Chosen by hand: not next. A is sentence 1 of document 1, B is sentences 1 to 3 of document 2." in said
    assert "longer than a row of 24: 12 tokens" in said
    both = ("One.", "Two.")
    assert "the label is wrong" in plain(figures.draw_line(row(documents=(both, both))))


def test_each_part_of_the_drawing_is_of_a_step() -> None:
    drawn, hidden = str(figures.drawn_view(row())), str(figures.hidden_view(row()))
    assert [drawn.count(f'<div class="of-{number}">') for number in range(1, 5)] == [1, 1, 1, 0]
    assert [hidden.count(f'<div class="of-{number}">') for number in range(1, 5)] == [0, 0, 1, 1]


def test_each_sentence_stands_with_the_segment_that_it_is_of() -> None:
    html = str(figures.drawn_view(row()))
    assert '<li class="in-a"><span>1</span> <b>A</b> Paris was.</li>' in html
    assert '<li class="in-b"><span>2</span> <b>B</b> it rained.</li>' in html
    assert '<li class=""><span>1</span> <b></b> Bread.</li>' in html


def test_of_a_long_document_what_is_far_from_the_pair_is_counted() -> None:
    documents = tuple(f"S{place}." for place in range(20)), ("Bread.",)
    html = str(figures.drawn_view(row(documents=documents, a=Segment(0, 9, 11), b=Segment(0, 11, 12))))
    shown = [place for place in range(20) if f"</b> S{place}.</li>" in html]
    assert shown == [0, 8, 9, 10, 11, 12]
    assert html.count("… 7 more sentences") == 2


def test_the_chips_have_segments_and_positions_and_then_fates() -> None:
    before, after = figures.row_chips(row())["chips"], figures.corrupted_chips(row())["chips"]
    assert [chip["below"] for chip in before[:5]] == ["0 · 0", "0 · 1", "0 · 2", "0 · 3", "1 · 4"]
    assert [chip["style"] for chip in before[3:5]] == ["segment-a special", "segment-b"]
    assert [chip["style"] for chip in after] == [
        *("special", "mask", "untouched", "special", "kept", "random", "untouched", "special")
    ]
    assert [(chip["text"], chip["below"]) for chip in after if chip["below"]] == [
        ("[MASK]", "Paris"),
        ("piano", "rain"),
    ]
    assert [chip["text"] for chip in after if chip["joined"]] == ["ed"]


def test_the_sentence_and_the_sum_hold_the_numbers() -> None:
    said = plain(figures.row_sentence(row()))
    assert said == "bert-mini guesses 2 of 3 chosen tokens right and is right about the pair."
    said = plain(figures.row_notes(row()))
    assert "The hardest is “rain”, at P = 1.00%." in said
    assert (
        "the MLM loss, is 1.8012 nats. The pair is “is next”, and gets P = 80.0% for it: the NSP loss is 0.2231" in said
    )
    assert said.endswith("The row's loss is their sum, 2.0243.")
    whole = plain(figures.sum_line(row()))
    assert "LMLM = (0.693 + 0.105 + 4.605) / 3 = 1.8012" in whole
    assert "LNSP = −ln P(is next) = −ln 0.8 = 0.2231" in whole
    assert "L = LMLM + LNSP = 1.8012 + 0.2231 = 2.0243 nats" in whole


def test_many_terms_are_written_with_an_ellipsis() -> None:
    many = tuple(token(place, "a", fate="mask", probability=0.5, loss=float(place)) for place in range(1, 21))
    result = row(tokens=(token(0, "[CLS]"), *many), mlm_loss=10.5)
    assert "(1.000 + 2.000 + 3.000 + 4.000 + … + 20.000) / 20" in plain(figures.sum_line(result))
    assert_draws(row_figure(result))
    assert str(figures.terms_table(result)).count("<tr>") == 1 + figures.MOST_ROWS
    assert "and 8 more" in plain(figures.terms_table(result))


def test_a_row_in_which_nothing_is_hidden_has_one_loss() -> None:
    nothing = row(tokens=(token(0, "[CLS]"), token(1, "a")), mlm_loss=None)
    assert "no MLM loss; bert-mini is right about the pair." in plain(figures.row_sentence(nothing))
    assert plain(figures.row_notes(nothing)).startswith("The pair is")
    assert "no token is chosen" in plain(figures.hidden_line(nothing))
    assert figures.terms_table(nothing) == ""
    assert "MLM =" not in plain(figures.sum_line(nothing)).replace("L = LMLM", "")
    assert_draws(row_figure(nothing))


def test_the_figure_has_a_bar_for_each_chosen_token_and_one_for_each_class() -> None:
    picture = row_figure(row())
    assert_draws(picture)
    bars = [trace for trace in picture["data"] if trace["type"] == "bar"]
    places = [place for bar in bars[:3] for place in zip(bar["x"], bar["y"], strict=True)]
    assert sorted(places) == [(0, 0.6931), (1, 0.1054), (2, 4.6052)]
    assert [bar["marker"]["color"] for bar in bars[:3]] == ["@mask", "@random", "@kept"]
    assert sorted(text for bar in bars[:3] for text in bar["text"]) == ["0.11", "0.69", "4.61"]
    assert bars[3]["y"] == [0.8, 0.2]
    assert bars[3]["marker"]["color"] == ["@accent", "@muted"]
    other = row_figure(row(follows=False, nsp_loss=1.6094))["data"][3]
    assert other["marker"]["color"] == ["@muted", "@accent"]


def test_the_table_has_the_promised_columns_and_cls_answers_for_the_pair() -> None:
    table = figures.row_table(row())
    assert table.columns == ("position", "token", "segment", "shown", "fate", "probability", "loss")
    assert table.rows[0] == (0, "[CLS]", 0, "[CLS]", "is_next", pytest.approx(0.8, abs=1e-4), 0.2231)
    assert table.rows[1] == (1, "Paris", 0, "[MASK]", "mask", 0.5, 0.6931)
    assert table.rows[2] == (2, "was", 0, "was", "untouched", None, None)


def test_another_model_that_answers_is_named() -> None:
    assert figures.model_line(row()) == ""
    assert figures.model_line(row(), "bert-mini") == ""
    assert plain(figures.model_line(row(), "roberta-mini")).startswith("roberta-mini doesn't have both")


@each_row("text", HOSTILE)
def test_what_a_visitor_types_stays_text(text: str) -> None:
    result = row(text)
    assert_safe(figures.drawn_view(result), text, TAGS)
    assert_safe(figures.model_line(replace(result, model="bert-small"), text), text, ("p",))
    assert_safe(figures.terms_table(result), text, ("table", "thead", "tbody", "tr", "th", "td"))
    assert_safe(
        figures.row_notes(row(tokens=(token(0, "[CLS]"), token(1, text, fate="mask", loss=1.0, probability=0.5)))),
        text,
        ("p",),
    )
    assert_draws(row_figure(result))
