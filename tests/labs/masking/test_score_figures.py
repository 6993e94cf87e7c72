"""Scored sentences and minimal pairs as pictures, sentences, facts and tables."""

from __future__ import annotations

import math

from explorer.labs.masking import minimal as minimal_figures
from explorer.labs.masking import score_figures as figures
from explorer.labs.masking.minimal import PAIRS
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.masking.samples import minimal_pairs_result, score_result, scored_sentence
from tests.rows import each_row

FIRST = scored_sentence("The keys are here", -1, -4, -0.5, -2)
SECOND = scored_sentence("The keys is here", -1, -5, -3, -2)
LONGER = scored_sentence("The keys are here now", -1, -4, -0.5, -2, -1)


def test_two_sentences_stand_row_by_row_with_their_difference_beside() -> None:
    figure = assert_draws(figures.score_figure(score_result(FIRST, SECOND)))
    assert [list(trace.x) for trace in figure.data] == [[1, 4, 0.5, 2], [1, 5, 3, 2], [0, 1, 2.5, 0]]
    assert figure.data[0].marker.color[2] != figure.data[0].marker.color[0]
    assert len({tuple(getattr(figure.layout, name).range) for name in ("yaxis", "yaxis2", "yaxis3")}) == 1


def test_a_token_without_a_counterpart_leaves_a_gap_and_counts_whole() -> None:
    figure = assert_draws(figures.score_figure(score_result(LONGER, FIRST)))
    assert list(figure.data[1].y) == [0, 1, 2, 3]
    assert list(figure.data[2].x) == [0, 0, 0, 0, -1]
    assert figure.layout.yaxis2.ticktext[-1] == ""


@each_row("count", [1, 3, 4, 8])
def test_other_numbers_of_sentences_have_a_panel_each(count: int) -> None:
    sentences = [scored_sentence(f"It is {number}", -1, -2, -number - 1) for number in range(count)]
    figure = assert_draws(figures.score_figure(score_result(*sentences, beside=False)))
    assert len(figure.data) == count


def test_the_sentence_tells_which_is_likelier_and_where_it_comes_from() -> None:
    said = figures.score_sentence(score_result(FIRST, SECOND))
    assert said.striptags().endswith(" finds the first likelier, by 3.50 nats.")
    notes = figures.score_notes(score_result(FIRST, SECOND))
    assert "Pseudo-log-likelihood: −7.50 against −11.00" in notes
    assert "“are” / “is” +2.50, “keys” +1.00" in notes
    assert "a token)" not in notes
    assert "The true log-likelihood of gpt2-mini agrees: −11.50 against −15.00." in notes
    longer = score_result(LONGER, FIRST)
    assert "the second likelier" in figures.score_sentence(longer)
    assert "(−1.70 against −1.88 a token)" in figures.score_notes(longer)


def test_one_sentence_has_its_perplexity_and_its_least_expected_token() -> None:
    said = figures.score_sentence(score_result(FIRST))
    assert "−7.50" in said
    assert "expects least “<strong>keys</strong>”." in said
    notes = figures.score_notes(score_result(FIRST))
    assert f"perplexity of {math.exp(7.5 / 4):.3g}" in notes
    assert "Of “keys” −ln p = 4.00." in notes
    assert "read as keys" in figures.score_notes(score_result(scored_sentence("keys", -1, unknown=True)))


def test_scores_that_add_up_to_more_than_one_are_told() -> None:
    likely = [scored_sentence(text, -0.2, -0.2) for text in ("New York", "Hong Kong", "Sri Lanka")]
    said = figures.score_notes(score_result(*likely))
    assert f"add up to {3 * math.exp(-0.4):.2f}, more than 1" in said
    apart = score_result(likely[0], likely[1], scored_sentence("Sri Lanka", -0.2, -0.3))
    assert figures.score_sentence(apart).striptags() == "Of the 3 “New York” is likeliest, “Sri Lanka” least."
    assert "The likeliest has −0.40 nats, the least likely −0.50" in figures.score_notes(apart)
    same = score_result(likely[0], likely[0], likely[0])
    assert "finds <strong>all 3 equally likely</strong>." in figures.score_sentence(same)
    assert "The likeliest has −0.40 nats." in figures.score_notes(same)
    assert "add up" not in figures.score_notes(same)


def test_facts_and_table_hold_both_models_and_the_chosen_one() -> None:
    result = score_result(FIRST, SECOND)
    facts = figures.score_facts(result)
    assert "gpt2-mini: ln p" in facts
    assert "bert-small: PLL" in facts
    assert "−1.88" in facts
    table = figures.score_table(result)
    assert table.columns == ("sentence", "position", "token", "log_probability")
    assert table.rows[0] == (1, 1, "The", -1)
    assert len(table.rows) == 8


@each_row("text", HOSTILE)
def test_what_visitors_type_stays_text(text: str) -> None:
    shown = text.replace(" ", "_")
    typed, other = scored_sentence(shown, -1), scored_sentence("It", -2)
    for sentences in ((typed,), (typed, other), (typed, other, other)):
        result = score_result(*sentences)
        assert_safe(figures.score_sentence(result), shown if len(sentences) != 2 else "likelier")
        assert_safe(figures.score_notes(result), shown if len(sentences) < 3 else "likeliest", ("p",))
        tags = ("table", "thead", "tbody", "tr", "th", "td", "p")
        assert_safe(figures.score_facts(result), shown, tags)
        assert_draws(figures.score_figure(result))


def test_pairs_are_drawn_as_they_come() -> None:
    some = minimal_pairs_result(2.0, -1.0, 0.5)
    figure = assert_draws(minimal_figures.minimal_pairs_figure(some))
    assert list(figure.data[0].x) == [2, -1, 0.5]
    assert len(figure.layout.yaxis.ticktext) == 10
    said = minimal_figures.minimal_pairs_sentence(some)
    assert said.endswith(" ranks <strong>2 of 3</strong> pairs right.")
    notes = minimal_figures.minimal_pairs_notes(some)
    assert "2 of 3 on agreement." in notes
    assert "&lt;b&gt;better" in notes
    assert "by 1.00 nats" in notes
    assert "3 of 30" in minimal_figures.minimal_pairs_progress(some)
    assert not minimal_figures.minimal_pairs_progress(minimal_pairs_result(*[1.0] * len(PAIRS)))
    assert [row[-1] for row in minimal_figures.minimal_pairs_table(some).rows] == ["yes", "no", "yes"]


def test_a_pair_of_one_score_is_not_called_likelier() -> None:
    level = minimal_pairs_result(1.0, 0.0)
    said = minimal_figures.minimal_pairs_notes(level)
    assert "as likely as" in said
    assert "likelier" not in said


def test_sentences_of_one_score_are_equally_likely() -> None:
    said = figures.score_sentence(score_result(FIRST, FIRST))
    assert "both equally likely" in said
    assert "they read as the same tokens" in said
    assert "likelier" not in said
    assert "is the same for all" in figures.score_notes(score_result(FIRST, FIRST))
    hair = scored_sentence("The keys is here", -1, -4, -0.5, -2.000001)
    assert "the first likelier" in figures.score_sentence(score_result(FIRST, hair))
    other = scored_sentence("The keys is here", -1, -4, -0.5, -2)
    assert "same tokens" not in figures.score_sentence(score_result(FIRST, other))
