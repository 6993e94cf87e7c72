"""Sentences, captions, coloured text, bars, tables: true to the result, safe with any text, readable at any length."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import gradio as gr
import pytest
from markupsafe import Markup

from explorer.charts.words import percent
from explorer.labs.attribution import figures, methods_figures
from explorer.labs.attribution import methods_figures as bar_figures
from explorer.labs.attribution.controls import Bench
from explorer.labs.attribution.methods_figures import MOST_BARS
from explorer.labs.attribution.schema import AttributionResult, Part, spearman
from explorer.ui.outputs import Outputs
from tests.labs.attribution import samples
from tests.labs.attribution.samples import CONDUCTANCE, GRADIENTS, OCCLUSION, ROLLOUT, SALIENCY, asked, result
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

EVERY = (
    samples.started(),
    result(),
    result(SALIENCY),
    result(GRADIENTS, SALIENCY, OCCLUSION),
    result(CONDUCTANCE),
    result(GRADIENTS, CONDUCTANCE),
    replace(result(), parts=(ROLLOUT,)),
    samples.long(),
    result(Part("integrated_gradients", (0.0,) * 8, True, 20, 0.0)),
)
every_result = pytest.mark.parametrize("shown", EVERY, ids=range(len(EVERY)))
MARKINGS = ("strong", "span", "div", "ul", "li", "progress", "p")


def text_of(markup: Markup) -> str:
    return str(markup.striptags())


@every_result
def test_whatever_stands_there_can_be_drawn(shown: AttributionResult) -> None:
    with gr.Blocks():
        tab = Bench("tab")
        tab.lay_out_figures()
        tab.lay_out_comparison()
    for view in ("bars", "text"):
        assert len(Outputs(tab.shown).values(shown, view=view)) == 11
    assert_draws(bar_figures.bars_figure(shown))
    for figure in (bar_figures.layers_figure(shown), bar_figures.agreement_figure(shown)):
        if figure:
            assert isinstance(figure, dict)
            assert_draws(figure)
    assert text_of(figures.sentence(shown))
    assert text_of(bar_figures.agreement_sentence(shown))
    assert str(figures.attribution_table(shown)) is not None


def test_the_sentence_names_what_pushes_and_what_pulls() -> None:
    said = text_of(figures.sentence(result(GRADIENTS)))
    assert said == (
        "By integrated gradients, “keys” pushes hardest towards “are” (+4.00), and “cab” pulls away most (−0.50)."
    )
    beside = "Towards “are” “keys” has +4.00 of the +4.00 that the text adds to its log-odds."
    assert beside in text_of(figures.caption(result(GRADIENTS)))
    against = text_of(figures.sentence(result(OCCLUSION)))
    assert "“cab” pushes hardest" in against
    assert "“keys” pulls away most (−4.00)" in against


def test_what_hardly_pulls_is_not_named_and_what_does_not_push_neither() -> None:
    weak = Part("occlusion", (0.0, 4.0, -0.01, 0, 0, 0, 0, 0), True)
    assert "none pulls away from it by more than 0.01" in text_of(figures.sentence(result(weak)))
    only_for = Part("occlusion", (0.0, 4.0, 0.1, 0, 0, 0, 0, 0), True)
    assert "no token pulls away" in text_of(figures.sentence(result(only_for)))
    only_against = Part("occlusion", (0.0, -4.0, -0.1, -1, -1, -1, -1, -1), True)
    assert "No token pushes towards “are”" in text_of(figures.sentence(result(only_against)))
    assert "Towards" not in text_of(figures.caption(result(only_against)))


def test_a_text_that_takes_from_the_answer_is_said_to() -> None:
    said = text_of(figures.caption(result(GRADIENTS, asked=asked(score=-5.0))))
    assert "Towards “are” “keys” has +4.00, while the text as a whole takes 2.00 from its log-odds." in said


def test_methods_without_a_sign_have_words_of_their_own() -> None:
    assert "is what the answer is most sensitive to (9)" in text_of(figures.sentence(result(SALIENCY)))
    alone = replace(result(), parts=(ROLLOUT,))
    assert "[CLS] reaches the asked position most (30.0%)" in text_of(figures.sentence(alone))
    assert "is being worked out" in text_of(figures.sentence(samples.started()))


def test_a_token_that_is_there_twice_is_named_with_its_position() -> None:
    what = asked(("[CLS]", "the", "to", "the", "cab", "inet", "[MASK]", "[SEP]"))
    assert "“the” (position 1) pushes" in text_of(figures.sentence(result(asked=what)))


def test_the_caption_has_the_sum_beside_the_difference_and_the_delta() -> None:
    caption = text_of(figures.caption(result(GRADIENTS, OCCLUSION, CONDUCTANCE)))
    assert "f(x) = +1.00 (73.1%)" in caption
    assert "f(baseline) = −3.00 (4.74%)" in caption
    assert "Difference: +4.00" in caption
    assert "sum +4.00, delta +0.004, 0.100% of it, after 20 steps" in caption
    assert "sum −4.00, which need not be +4.00" in caption
    assert "every layer adds up to it but for at most −0.02" in caption
    assert "[MASK] in place of every token" in caption


def test_a_sum_that_is_not_close_is_owned_up_to() -> None:
    assert "Not close enough; with more steps" in text_of(figures.caption(samples.long()))
    zero = samples.long()
    assert "normalisation undoes the scaling" in text_of(figures.caption(zero)), "its baseline is the zero vector"
    token = replace(zero, asked=replace(zero.asked, baseline_token="[MASK]"))
    assert "normalisation undoes" not in text_of(figures.caption(token))
    going = replace(GRADIENTS, done=False, delta=1.0)
    assert "more steps follow" in text_of(figures.caption(result(going)))
    assert "Not close" not in text_of(figures.caption(result(GRADIENTS)))


def test_an_answer_that_is_not_the_models_first_is_said_to_be_none() -> None:
    assert "not its first choice" in text_of(figures.caption(result(asked=asked(is_top=False))))
    assert "zero vector" in text_of(figures.caption(samples.long()))


@each_row(
    ("parts", "columns"),
    [
        ((GRADIENTS,), ("position", "token", "attribution")),
        ((GRADIENTS, SALIENCY), ("method", "position", "token", "attribution")),
        ((CONDUCTANCE,), ("layer", "position", "token", "attribution")),
        ((GRADIENTS, CONDUCTANCE), ("method", "layer", "position", "token", "attribution")),
    ],
)
def test_the_table_has_the_columns_that_are_needed(parts: tuple[Part, ...], columns: tuple[str, ...]) -> None:
    table = figures.attribution_table(result(*parts))
    assert table.columns == columns
    rows = [dict(zip(columns, row, strict=True)) for row in table.rows]
    layers = 2 if CONDUCTANCE in parts else 0
    plain = len([part for part in parts if part is not CONDUCTANCE]) + (len(parts) > 1)
    assert len(rows) == 8 * (plain + layers)
    if parts == (GRADIENTS,):
        assert [row["attribution"] for row in rows] == list(GRADIENTS.values)
        assert [row["token"] for row in rows] == list(samples.WORDS)


def test_the_rollout_alone_is_in_the_table() -> None:
    table = figures.attribution_table(replace(result(), parts=(ROLLOUT,)))
    assert [row[-1] for row in table.rows] == list(ROLLOUT.values)


def test_bars_are_the_numbers_in_the_order_of_the_text() -> None:
    drawn = bar_figures.bars_figure(result(GRADIENTS, SALIENCY))
    assert [tuple(trace["x"]) for trace in drawn["data"]] == [GRADIENTS.values, SALIENCY.values, ROLLOUT.values]
    colours = drawn["data"][0]["marker"]["color"]
    assert colours == ["@muted", "@first", "@first", "@second", "@second", "@first", "@muted", "@muted"]
    names = drawn["layout"]["yaxis"]["ticktext"]
    assert names == list(samples.WORDS)
    for layout in (drawn["layout"], drawn["narrow"]):
        assert {"yaxis", "yaxis2", "yaxis3"} <= set(layout)
    assert drawn["narrow"]["height"] > drawn["layout"]["height"]


def test_of_a_long_text_the_bars_show_what_counts_and_the_coloured_text_all() -> None:
    shown = bar_figures.shown_units(samples.long())
    assert len(shown) == MOST_BARS
    assert 250 in shown
    assert shown == sorted(shown)
    assert str(figures.coloured_text(samples.long())).count("chip-text") == 2 * 300
    assert "chip-below" not in str(figures.coloured_text(samples.long()))
    assert "chip-below" in str(figures.coloured_text(result()))


def test_shades_grow_with_the_number_and_white_is_zero() -> None:
    html = str(figures.coloured_text(result(GRADIENTS)))
    first = html.split('<span class="reading-name">')[1]
    assert 'class="chip tone towards shade-10"' in first
    assert 'class="chip tone away shade-1"' in first
    assert 'class="chip tone towards shade-0 special"' in first
    assert "size" in html.split('<span class="reading-name">')[2]


def test_ranks_are_compared_over_what_the_baseline_changes_whatever_the_sign() -> None:
    figure = bar_figures.agreement_figure(result(GRADIENTS, OCCLUSION))
    assert isinstance(figure, dict)
    cells = figure["data"][0]["z"]
    assert cells[0][1] == pytest.approx(1), "the same numbers with the sign turned rank alike"
    changed = slice(1, 6)
    strengths = [abs(value or 0.0) for value in GRADIENTS.values[changed]]
    expected = spearman(strengths, [value or 0.0 for value in ROLLOUT.values[changed]])
    assert cells[0][2] == pytest.approx(expected)
    assert [cells[place][place] for place in range(3)] == pytest.approx([1, 1, 1])
    assert bar_figures.agreement_figure(samples.started()) == ""


def test_the_two_methods_that_rank_least_alike_are_named_where_they_are_the_only_ones() -> None:
    three = result(GRADIENTS, OCCLUSION)
    said = text_of(bar_figures.agreement_sentence(three))
    assert "rank the tokens with a rank correlation of" in said, "two pairs with the rollout are equally far apart"
    other = replace(
        OCCLUSION, values=tuple(value and value + 0.4 * place for place, value in enumerate(OCCLUSION.values))
    )
    assert "rank the tokens least alike, with a rank" in text_of(
        bar_figures.agreement_sentence(result(GRADIENTS, other))
    )
    assert "over the 5 tokens that the baseline changes" in text_of(bar_figures.agreement_notes(three))
    assert "no ranks to compare" in text_of(bar_figures.agreement_sentence(samples.started()))
    assert bar_figures.agreement_notes(samples.started()) == ""


def test_layers_are_drawn_with_their_sums_and_named() -> None:
    figure = bar_figures.layers_figure(result(CONDUCTANCE))
    assert isinstance(figure, dict)
    assert figure["data"][0]["z"] == [list(layer) for layer in CONDUCTANCE.layers]
    assert figure["data"][0]["zmin"] == -figure["data"][0]["zmax"] == -4
    assert figure["layout"]["yaxis"]["ticktext"] == ["1 · sum +4.00", "2 · sum +4.00"]
    assert text_of(methods_figures.layers_sentence(result(CONDUCTANCE))) == (
        "Most of the difference from the baseline flows through “keys” in the first layer and through [MASK] in the last."
    )
    said = text_of(methods_figures.layers_notes(result(CONDUCTANCE)))
    values = [abs(value) for value in CONDUCTANCE.layers[0]]
    assert f"“keys” (layer 1: {percent(max(values) / sum(values))}), then [MASK] (layer 2: 87.5%)" in said
    assert said.startswith("Most of it" if max(values) / sum(values) > 0.5 else "The largest part of it")
    assert "annotations" not in figure["narrow"]


def test_most_is_said_of_more_than_half_alone_and_one_read_token_has_all_by_construction() -> None:
    def said(*layers: tuple[float, ...]) -> str:
        rows = tuple((*row, *[0.0] * (8 - len(row))) for row in layers)
        return text_of(methods_figures.layers_notes(result(replace(CONDUCTANCE, layers=rows))))

    assert said((0, 3.0, 1.0), (0, 2.1, 1.9)).startswith("Most of it flows")
    assert said((0, 3.0, 1.0), (0, 1.0, 0.9, 0.9)).startswith("The largest part of it flows")
    assert "all of it stands there" in said((0, 3.0, 1.0), (0, 0.0, 4.0))
    assert "all of it stands there" not in said((0, 3.0, 1.0), (0, 0.1, 3.9))


@each_row(
    ("layers", "said"),
    [
        (((0, 3.0, 1.0),), "Most of … “keys” in the one layer."),
        (((0, 3.0, 1.0), (0, 2.1, 1.9)), "Most of … “keys” in every layer."),
        (((0, 3.0, 1.0), (0, 1.0, 0.9, 0.9)), "The largest part of … “keys” in every layer."),
        (((0, 3.0, 1.0), (3.0, 0.0), (0, 3.0)), "Most of … “keys” in the first layer and in the last."),
        (
            ((0, 0.9, 0.8, 0.8), (0, 0.0, 3.0)),
            "The largest part of … “keys” in the first layer and through “to” in the last.",
        ),
    ],
)
def test_the_first_and_the_last_layer_are_named(layers: tuple[tuple[float, ...], ...], said: str) -> None:
    rows = tuple((*row, *[0.0] * (8 - len(row))) for row in layers)
    told = text_of(methods_figures.layers_sentence(result(replace(CONDUCTANCE, layers=rows))))
    assert told == said.replace("…", "the difference from the baseline flows through")


@each_row("text", [*HOSTILE, "<b>bold</b>", "%{y}", "$x$", "</script><script>", "`", "\u2028"])
def test_a_visitors_text_stays_text(text: str) -> None:
    shown = samples.hostile(text)
    assert_safe(figures.sentence(shown), text, MARKINGS)
    assert_safe(figures.coloured_text(shown), text, MARKINGS)
    assert_safe(figures.caption(shown), text, MARKINGS)
    assert_safe(methods_figures.layers_sentence(shown), text, MARKINGS)
    assert_safe(methods_figures.layers_notes(shown), text, MARKINGS)
    assert "<script" not in str(figures.progress_line(shown)).lower()
    for figure in (bar_figures.bars_figure(shown), bar_figures.layers_figure(shown)):
        assert isinstance(figure, dict)
        assert_draws(figure)
        for trace in figure["data"]:
            assert text not in trace["hovertemplate"] or text == "%{y}"
        labels = [label for label in _strings(figure) if label != figure["described"]]
        assert not any("<img" in label or "<script" in label or "<b>bold" in label for label in labels)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for entry in value.values() for text in _strings(entry)]
    return [text for entry in value for text in _strings(entry)] if isinstance(value, (list, tuple)) else []


class _Bar(HTMLParser):
    found: dict[str, str | None] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "progress":
            self.found = dict(attrs)


def test_progress_says_how_far_and_how_long_and_ends() -> None:
    from explorer.labs.attribution.schema import Progress

    bar = _Bar()
    going = replace(result(), progress=Progress("Occlusion, token 3 of 9", 12, 40, 5.0))
    bar.feed(str(figures.progress_line(going)))
    assert (bar.found["value"], bar.found["max"]) == ("12", "40")
    assert "Occlusion, token 3 of 9 · about 5.0 s left" in text_of(figures.progress_line(going))
    assert figures.progress_line(result()) == ""


def test_places_can_be_pressed_where_there_are_several() -> None:
    many = result(asked=asked(places=(1, 6)))
    chips = figures.place_chips(many)["chips"]
    assert [chip["position"] for chip in chips if chip["position"] is not None] == [1, 6]
    assert [chip["position"] for chip in chips if chip["pressed"]] == [6]
    assert figures.place_chips(many)["of"] == ["The keys", ""]
    assert figures.place_chips(result())["chips"] == []


@each_row("value", [-800.0, -3.0, 0.0, 3.0, 800.0])
def test_log_odds_become_probabilities_without_overflow(value: float) -> None:
    assert figures.probability(value) + figures.probability(-value) == pytest.approx(1)
