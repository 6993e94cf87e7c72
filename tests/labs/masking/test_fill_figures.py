"""The filled masks as bars, chips, sentence, facts and table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.charts.words import ordinal, percent
from explorer.labs.masking import fill_figures as figures
from explorer.labs.masking.fill_said_figures import fill_sentence, word_guesses
from explorer.labs.masking.schema import FilledMask, FillResult, Prediction
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.masking.samples import fill_result, filled_mask
from tests.rows import each_row


@each_row("masks", range(1, 9))
def test_bars_draw_for_any_number_of_masks_and_stop_at_six_panels(masks: int) -> None:
    result = fill_result(*(filled_mask(place) for place in range(1, masks + 1)))
    figure = assert_draws(figures.fill_figure(result))
    assert len(figure.data) == min(masks, 6)
    assert figure.layout.annotations[0].text == "mask at position 1"
    for trace in figure.data:
        assert len(trace.x) == len(trace.y) == 2


def boxes_of(layout: dict[str, Any], panels: int) -> list[tuple[float, float, float, float]]:
    """left, right, bottom and top of each panel."""
    names = ["" if number == 1 else str(number) for number in range(1, panels + 1)]
    return [(*layout[f"xaxis{name}"]["domain"], *layout[f"yaxis{name}"]["domain"]) for name in names]


@each_row("form", ["layout", "narrow"])
@each_row("masks", [2, 4, 6])
def test_panels_do_not_overlap(form: str, masks: int) -> None:
    layout = figures.fill_figure(fill_result(*(filled_mask(place) for place in range(1, masks + 1))))[form]
    boxes = boxes_of(layout, masks)
    for number, (left, right, bottom, top) in enumerate(boxes):
        assert 0 <= left < right <= 1
        assert 0 <= bottom < top <= 1
        for other_left, other_right, other_bottom, other_top in boxes[:number]:
            assert left >= other_right or right <= other_left or bottom >= other_top or top <= other_bottom


@pytest.mark.parametrize("models", [1, 2, 3])
def test_models_side_by_side_have_a_column_each(models: int) -> None:
    names = ["bert-small", "FacebookAI/roberta-base", "/folder/<b>mine</b>/"][:models]
    results = [fill_result(filled_mask(1), filled_mask(2), model=name) for name in names]
    figure = assert_draws(figures.compare_figure(results))
    assert len(figure.data) == 2 * models
    assert len({trace.xaxis for trace in figure.data}) == 2 * models
    assert not any("<" in note.text for note in figure.layout.annotations)


def test_models_that_masked_differently_are_compared_as_far_as_both_go() -> None:
    more, fewer = fill_result(filled_mask(1), filled_mask(2)), fill_result(filled_mask(1))
    assert len(figures.compare_figure([more, fewer])["data"]) == 2
    assert not figures.compare_figure([more, fill_result()]).get("data")
    assert "nothing is hidden" in figures.compare_sentence([more, fill_result()])


def test_a_comparison_says_where_vocabularies_differ() -> None:
    ours, theirs = fill_result(filled_mask(1)), fill_result(filled_mask(1), vocabulary=50265)
    assert "vocabularies differ" in figures.compare_sentence([ours, theirs])
    assert "vocabularies differ" not in figures.compare_sentence([ours, ours])


def test_a_text_without_masks_draws_no_bars_and_says_what_to_do() -> None:
    assert not figures.fill_figure(fill_result()).get("data")
    assert "[MASK]" in fill_sentence(fill_result())


def test_the_table_has_a_row_for_each_guess() -> None:
    table = figures.fill_table(fill_result(filled_mask(2, ("Paris", "London")), filled_mask(5, ("a",))))
    assert table.columns == ("position", "rank", "token", "probability")
    assert table.rows == ((2, 1, "Paris", 0.5), (2, 2, "London", 0.25), (5, 1, "a", 0.5))


def test_tokens_that_look_alike_keep_a_bar_each() -> None:
    names = ("a" * 30, "a" * 31, "the", " the", "the ", "")
    bars = figures.fill_figure(fill_result(filled_mask(1, names)))["data"][0]
    assert len(set(bars["y"])) == len(bars["x"]) == len(names)


def test_only_the_hidden_tokens_bar_is_highlighted() -> None:
    bars = figures.fill_figure(fill_result(filled_mask(1, ("b", "c", "a"), hidden="a")))["data"][0]
    assert bars["marker"]["color"] == ["@accent", "@accent", "@highlight"]


@each_row("text", HOSTILE)
def test_a_visitors_text_stays_text_in_sentence_and_facts(text: str) -> None:
    result = fill_result(filled_mask(1, (text, "b"), hidden=text))
    assert_safe(fill_sentence(result), text)
    assert_safe(figures.fill_facts(result), text, ("ul", "li", "b", "span"))
    assert_safe(figures.compare_sentence([fill_result(filled_mask(1, (text,)), model=text)]), text)


@each_row("text", HOSTILE)
def test_axis_labels_hold_no_markup(text: str) -> None:
    bars = figures.fill_figure(fill_result(filled_mask(1, (text,))))["data"][0]
    assert "<" not in bars["y"][0]
    assert ">" not in bars["y"][0]


@each_row(
    ("token", "label"),
    [
        (" Paris ", "Paris"),
        ("", "''"),
        ("\n", "'\\n'"),
        ("a<b>&c", "a&lt;b&gt;&amp;c"),
        ("x" * 18, "x" * 18),
        ("x" * 19, "x" * 17 + "…"),
    ],
)
def test_an_axis_label_is_never_empty_never_markup_and_never_long(token: str, label: str) -> None:
    assert figures.visible(token) == label


def test_the_sentence_names_leader_hidden_token_and_rank() -> None:
    text = fill_sentence(fill_result(filled_mask(4, ("b", "c", "a"), hidden="a"))).striptags()
    assert text.startswith(
        f"BERT's first guess for the blank is “b” ({percent(0.5)}); the word that was hidden, “a”, comes 3rd with 12.5%."
    )
    assert "It chose from 28,996 word pieces." in text
    assert "unknown" not in text


def test_the_sentence_says_where_the_leader_is_the_hidden_token() -> None:
    text = fill_sentence(fill_result(filled_mask(4, ("a",), hidden="a"))).striptags()
    assert text.startswith(f"BERT's first guess for the blank is “a” ({percent(0.5)}), the word that was hidden.")


def test_a_word_in_pieces_is_told_as_one_and_other_blanks_are_not() -> None:
    result = fill_result(filled_mask(1, ("phys",), hidden="phys"), filled_mask(2, ("##icist",), hidden="##icist"))
    start, *tokens = result.tokens
    pieces = (replace(tokens[0], shown="phys"), replace(tokens[1], shown="icist", joined=True))
    said = fill_sentence(replace(result, tokens=(start, *pieces))).striptags()
    assert said.startswith("“physicist” is two pieces here, each guessed by itself.")
    assert "likeliest way to fill them is “physicist” (25.0%), the word that was hidden." in said
    assert "pieces here" not in fill_sentence(result)


def word_in_pieces(*guesses: tuple[str, ...]) -> FillResult:
    """A word whose last guess for each piece is what stands there."""
    masks = [filled_mask(place, piece, hidden=piece[-1]) for place, piece in enumerate(guesses, start=1)]
    result = fill_result(*masks)
    start, *tokens = result.tokens
    shown = [token.text.removeprefix("##") for token in tokens]
    pieces = [
        replace(token, shown=text, joined=place > 0)
        for place, (token, text) in enumerate(zip(tokens, shown, strict=True))
    ]
    return replace(result, tokens=(start, *pieces))


def test_a_words_pieces_are_filled_together_in_one_chart() -> None:
    result = word_in_pieces(("doc", "phys"), ("##tor", "man", "##icist"))
    words = word_guesses(result)
    everything = sorted((0.5 ** (i + j) for i in (1, 2) for j in (1, 2, 3)), reverse=True)
    assert [word.probability for word in words] == everything[:3]
    assert words[0].text == "doctor"
    assert {word.text for word in words[1:]} <= {"doc man", "phystor"}, "a piece without ## is a word of its own"
    said = fill_sentence(result).striptags()
    assert "likeliest way to fill them is “doctor” (25.0%); the word that was hidden has 3.12%." in said
    drawn = assert_draws(figures.fill_figure(result))
    assert len(drawn.data) == 1, "one word, one chart"
    assert list(drawn.data[0].x) == everything[:3]
    assert "the 2 pieces together" in str(drawn.layout.annotations)
    assert not word_guesses(fill_result(filled_mask(1), filled_mask(3)))


def test_byte_level_pieces_are_joined_by_their_own_spaces() -> None:
    (word, *_) = word_guesses(word_in_pieces((" phys",), ("ic",), ("ist",)))
    assert (word.text, word.probability, word.hidden) == ("physicist", 0.125, True)


def test_a_model_of_a_visitors_is_called_by_its_name() -> None:
    said = fill_sentence(fill_result(filled_mask(4, ("a",)), model="my-model")).striptags()
    assert said.startswith("my-model's first guess for the blank is “a”")


def test_the_sentence_counts_the_masks_that_it_leaves_out_and_unknown_tokens() -> None:
    result = fill_result(*(filled_mask(place) for place in range(1, 6)), unknown=2)
    text = fill_sentence(result).striptags()
    assert "2 more masks are in the table." in text
    assert "2 of the tokens are unknown" in text


def test_the_facts_show_a_hidden_rank_of_the_whole_vocabulary() -> None:
    mask = FilledMask(3, (Prediction(1, 9, "b", 0.9),), 0.5, "a", 12345, 1e-7, 16.118)
    text = figures.fill_facts(fill_result(mask)).striptags()
    for fact in ("rank 12,345 of 28,996", f"p = {percent(1e-7)}", "−ln p = 16.12 nats", "entropy 0.35 nats"):
        assert fact in text
    assert figures.fill_facts(fill_result()) == ""


def test_chips_show_masks_as_such_and_only_tokens_of_the_text_can_be_pressed() -> None:
    chips = figures.fill_chips(fill_result(filled_mask(1, hidden="a"), filled_mask(2), unknown=1))["chips"]
    assert [chip["text"] for chip in chips] == ["[CLS]", "[MASK]", "[MASK]", "[UNK]"]
    assert [chip["position"] for chip in chips] == [None, 1, None, 90]
    assert [chip["pressed"] for chip in chips] == [False, True, False, False]
    assert chips[1]["below"] == "a"
    assert "not in this model's vocabulary" in chips[3]["title"]


@each_row(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (113, "113th"), (1022, "1,022nd")],
)
def test_ordinals(number: int, text: str) -> None:
    assert ordinal(number) == text


def test_an_unknown_word_is_read_as_the_model_spells_it() -> None:
    said = fill_sentence(fill_result(filled_mask(1), unknown=2)).striptags()
    assert "2 of the tokens are unknown to this vocabulary. In their place the model reads [UNK]." in said
