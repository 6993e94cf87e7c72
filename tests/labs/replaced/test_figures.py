"""The replaced-tokens lab's figures, sentences and tables, without a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from markupsafe import Markup

from explorer.labs.replaced import chips_figures as chips
from explorer.labs.replaced import draws_figures, figures
from explorer.labs.replaced.schema import BY_HAND, TEXT, TRY
from explorer.models.records import read_scores
from explorer.settings import BUNDLED_MODELS
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.replaced.samples import by_hand, draws_result, token, typical
from tests.rows import each_row


def plain(said: Markup) -> str:
    return said.striptags()


def texts(row: dict[str, Any], name: str = "text") -> list[str]:
    return [chip[name] for chip in row["chips"]]


def test_the_loop_is_four_rows_token_under_token() -> None:
    text, seen, written, judged = chips.replaced_rows(typical())["rows"]
    assert texts(text) == ["Paris", "was", "Paris", "the", "."]
    assert set(texts(text, "style")) == {"plain"}
    assert texts(seen) == ["[MASK]", "[MASK]", "Paris", "[MASK]", "."]
    assert texts(seen, "style") == ["mask", "mask", "plain", "mask", "plain"]
    assert texts(written) == ["piano", "is", "Paris", "the", "."]
    assert texts(written, "style") == ["differs", "differs", "plain", "guessed", "plain"]
    assert texts(written, "below") == ["", "", "", "★", ""]
    assert "in place of Paris" in texts(written, "title")[0]
    assert texts(judged) == ["90%", "20%", "70%", "10%", "10%"]
    assert texts(judged, "style") == ["hit", "miss", "alarm", "right", "right"]
    assert texts(judged, "below") == ["found", "missed", "false alarm", "", ""]


def test_a_piece_is_joined_to_the_one_before_in_its_own_row() -> None:
    whole = replace(token(1, "gate", "##gate", chosen=True), was="gate")
    piece = replace(token(2, "##s"), text="s", was="s", joined=True)
    rows = (row["chips"] for row in chips.replaced_rows(by_hand(whole, piece))["rows"])
    joined = [[chip["joined"] for chip in row] for row in rows]
    assert joined == [[True, True], [True, True], [False, True], [False, False]]


def test_words_replaced_by_hand_have_the_colour_of_what_they_and_the_answer_make() -> None:
    row = chips.hand_chips(typical())["chips"]
    assert [chip["style"] for chip in row] == ["hit", "miss", "alarm", "right", "right"]
    assert row[0]["below"] == "90% · Paris"
    assert "was Paris" in row[0]["title"]
    assert row[2]["below"] == "70%"


def test_each_mark_is_explained() -> None:
    drawn, by_hand_too = plain(chips.draw_legend()), plain(chips.hand_legend())
    assert all(name in drawn and name in by_hand_too for name in ("replaced, found", "replaced, missed", "false alarm"))
    assert chips.GUESSED in drawn
    assert chips.GUESSED not in by_hand_too


def test_the_tables_have_the_promised_columns() -> None:
    table = figures.draw_table(typical())
    assert table.columns == ("position", "original", "masked", "shown", "is_replaced", "probability")
    assert table.rows[0] == (1, "Paris", True, "piano", True, 0.9)
    assert table.rows[3] == (4, "the", True, "the", False, 0.1)
    assert figures.hand_table(typical()).columns == ("position", "original", "shown", "is_replaced", "probability")


def test_the_sentence_counts_hits_and_the_notes_guesses_and_false_alarms() -> None:
    assert plain(figures.replaced_sentence(typical())) == "The discriminator finds 1 of 2 replaced tokens."
    assert plain(figures.replaced_notes(typical())) == (
        "3 of 5 tokens were masked. The generator wrote 1 as it was, which counts as original, and 2 otherwise. "
        "The discriminator takes 1 of 3 original tokens for replaced."
    )


@pytest.mark.parametrize(("probability", "does"), [(0.5, "finds"), (0.49, "misses")])
def test_one_replaced_token_is_found_or_missed(probability: float, does: str) -> None:
    one = by_hand(token(1, "a", "the", probability=probability, chosen=True))
    assert plain(figures.replaced_sentence(one)) == f"The discriminator {does} the one token that was replaced."
    assert plain(figures.replaced_notes(one)) == (
        "1 of 1 token was masked. The generator wrote another one than stood there. No token is the original one."
    )


def test_the_sentence_where_everything_is_guessed_and_where_nothing_is_masked() -> None:
    guessed = by_hand(token(1, "the", chosen=True), token(2, "."))
    assert plain(figures.replaced_sentence(guessed)) == (
        "The generator wrote what stood there, which counts as original, so there is nothing to find."
    )
    assert plain(figures.replaced_notes(guessed)) == (
        "1 of 2 tokens was masked. The generator wrote what stood there. "
        "The discriminator takes 0 of 2 original tokens for replaced."
    )
    nothing = by_hand(token(1, "the"))
    assert plain(figures.replaced_sentence(nothing)) == (
        "Nothing is masked at this rate, so every token is the original one."
    )
    assert plain(figures.replaced_notes(nothing)).endswith("takes 0 of 1 original token for replaced.")
    assert plain(figures.signal_sentence(nothing)) == (
        "The discriminator has a loss at the one token, the generator at none."
    )
    assert "of which there are none" in plain(figures.signal_notes(nothing))
    assert figures.steps_table(nothing) == ""
    assert len(figures.signal_figure(nothing)["data"]) == 1


def test_the_learning_signal_is_all_tokens_against_the_masked_ones() -> None:
    result = typical()
    said = plain(figures.signal_sentence(result))
    assert said == "The discriminator has a loss at all 5 tokens, the generator at the 3 masked."
    notes = plain(figures.signal_notes(result))
    assert "a mean binary cross-entropy of 0.500 nats" in notes
    assert "a mean −ln p of 2.000 at the masked 60.0% of the tokens" in notes
    assert "2.00 + 50 · 0.500 = 27.0" in notes
    bars, dots = figures.signal_figure(result)["data"]
    assert len(bars["x"]) == 5
    assert dots["x"] == [1, 2, 4]
    assert dots["y"] == [2.0, 2.0, 2.0]


def test_a_hand_made_text_says_which_words_are_caught() -> None:
    swapped = by_hand(token(1, "soup", "album", probability=0.6), token(2, "am", "are"), left_out=2)
    assert plain(figures.hand_sentence(swapped)) == "The discriminator finds 1 of 2 replaced tokens."
    notes = plain(figures.hand_notes(swapped))
    assert "“soup” in place of “album”: P(replaced) = 60.0%, caught." in notes
    assert "“am” in place of “are”: P(replaced) = 10.0%, not caught." in notes
    assert "2 tokens of the text have no place" in notes
    same = by_hand(token(1, "a"))
    assert plain(figures.hand_sentence(same)) == "No token differs from the text, so there is nothing to find."
    assert plain(figures.hand_notes(same)) == "The discriminator takes 0 of 1 original token for replaced."


def test_one_word_replaced_by_hand_is_named_above_the_figure() -> None:
    soup = replace(token(1, "soup", "album", probability=0.6), before=0.02)
    said = plain(figures.hand_sentence(by_hand(soup)))
    assert said == "“soup” in place of “album” is caught: P(replaced) = 60.0%."
    assert "(“album” itself 2.00%), caught." in plain(figures.hand_notes(by_hand(soup)))
    added = replace(token(1, "soup", "x"), original="", was="")
    assert plain(figures.hand_sentence(by_hand(added))) == "“soup” is not caught: P(replaced) = 10.0%."


@pytest.mark.parametrize("count", [1, 40, 300])
def test_figures_are_drawn_for_short_and_long_texts(count: int) -> None:
    result = by_hand(*(token(place, f"w{place}", chosen=place % 7 == 0) for place in range(1, count + 1)))
    assert_draws(figures.replaced_figure(result))
    assert_draws(figures.signal_figure(result))


def test_the_main_figure_marks_guesses_and_every_verdict() -> None:
    drawn = figures.replaced_figure(typical())
    names = [trace["name"] for trace in drawn["data"]]
    assert names == [*chips.NAMES.values(), "guessed by the generator"]
    assert_draws(drawn)


@pytest.mark.parametrize("draws", [1, 2])
def test_many_draws_are_drawn_and_told(draws: int) -> None:
    result = draws_result(draws)
    drawn = draws_figures.draws_figure(result)
    assert_draws(drawn)
    curve = next(trace for trace in drawn["data"] if trace.get("name") == "ROC")
    assert (curve["x"][0], curve["y"][0]) == (0, 0)
    assert (curve["x"][-1], curve["y"][-1]) == (1, 1)
    said = plain(draws_figures.draws_sentence(result))
    assert said == "A replaced token scores above an original one with a chance of 0.750."
    notes = plain(draws_figures.draws_notes(result))
    assert f"In {draws} draw{'s' * (draws > 1)} 4 tokens were masked, and 3 of 20 differ from the original." in notes
    assert "the AUC, 0.50 to 1.00 in single draws" in notes
    assert "finds 50.0% of the replaced tokens and takes 25.0%" in notes
    assert bool(draws_figures.progress_line(result)) == (draws < 2)
    assert draws_figures.draws_table(result).rows[1] == (0.6, 0.5, 0.25)


def test_where_nothing_is_replaced_there_is_no_area() -> None:
    result = draws_result(auc=None)
    said = "from the original, so there is nothing to tell apart."
    assert plain(draws_figures.draws_sentence(result)) == f"No token differs {said}"
    assert plain(draws_figures.draws_sentence(replace(result, replaced=20))) == f"Every token differs {said}"
    assert "0 of 20 differ from the original." in plain(draws_figures.draws_notes(result))
    assert_draws(draws_figures.draws_figure(result))


def test_the_cards_figures_stand_beside() -> None:
    name = "electra-mini-discriminator"
    assert "AUC 0.875: 51.9% found, 5.40% false alarms" in plain(
        draws_figures.card_line(name, read_scores(BUNDLED_MODELS / name))
    )
    assert "No figures" in draws_figures.card_line("another", None)


@each_row("text", HOSTILE)
def test_a_visitors_text_stays_text(text: str) -> None:
    result = typical(text)
    assert_safe(figures.steps_table(result), text, ("table", "caption", "thead", "tbody", "tr", "th", "td"))
    assert_safe(figures.hand_sentence(by_hand(token(1, text, "is"))), text)
    assert_safe(figures.hand_notes(by_hand(token(1, text, "is"))), text, ("p",))
    drawn = str(figures.hand_figure(result)["data"]) + str(figures.signal_figure(result)["data"])
    if "<" in text:
        assert text not in drawn


def test_the_experiments_change_something() -> None:
    assert all(asked != {"text": TEXT, "temperature": 1.0, "rate": 0.15} for asked in TRY.values())
    assert all(text != shown for text, shown in BY_HAND.values())
    assert (len(TRY), len(BY_HAND)) == (5, 6)
