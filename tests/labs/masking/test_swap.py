"""One word changed: the same blank's two distributions, against the single fill, and how they are shown."""

from __future__ import annotations

import math

import pytest

from explorer.errors import BadInputError
from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import FillParams
from explorer.labs.masking.swap import (
    SwapParams,
    SwappedToken,
    SwapResult,
    swap_figure,
    swap_notes,
    swap_sentence,
    swap_table,
    swap_word,
)
from explorer.models.loaded_model import LoadedModel
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row


def test_both_lists_are_what_filling_each_sentence_gives(loaded: LoadedModel) -> None:
    result = swap_word(loaded, SwapParams(top_k=5))
    shares = {token.token: (token.before, token.after) for token in result.tokens}
    for side, word in enumerate(("man", "woman")):
        (mask,) = fill_masks(loaded, FillParams(f"The {word} worked as a [MASK].", 5)).masks
        for guess in mask.predictions:
            assert shares[guess.token][side] == pytest.approx(guess.probability, rel=1e-4)
    assert 0 < result.moved < 1
    assert result.moved >= max(abs(after - before) for before, after in shares.values())


def test_the_same_word_moves_nothing(loaded: LoadedModel) -> None:
    result = swap_word(loaded, SwapParams(other="man"))
    assert result.moved == 0
    assert all(token.log_ratio == 0 for token in result.tokens)


def test_a_word_is_changed_wherever_it_stands_as_one(loaded: LoadedModel) -> None:
    twice = swap_word(loaded, SwapParams("The man and the manly man were [MASK].", "man", "cat"))
    (mask,) = fill_masks(loaded, FillParams("The cat and the manly cat were [MASK].", 6)).masks
    assert max(twice.tokens, key=lambda token: token.after).token == mask.predictions[0].token


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"word": "boy"}, "has no “boy” as a word of its own"),
        ({"text": "The man slept."}, "Put one .* this text has 0"),
        ({"text": "The man [MASK] [MASK]."}, "this text has 2"),
    ],
)
def test_what_cannot_be_compared_is_refused(loaded: LoadedModel, given: dict[str, str], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        swap_word(loaded, SwapParams(**given))


def result_of(*tokens: tuple[str, float, float]) -> SwapResult:
    return SwapResult("bert-small", "man", "woman", tuple(SwappedToken(*token) for token in tokens), 0.25)


def test_figure_sentence_and_table_tell_the_same() -> None:
    result = result_of(("doctor", 0.4, 0.2), ("nurse", 0.1, 0.35))
    figure = assert_draws(swap_figure(result))
    assert [list(trace.x) for trace in figure.data[:2]] == [[0.4, 0.1], [0.2, 0.35]]
    assert list(figure.data[2].x) == pytest.approx([math.log(0.5), math.log(3.5)])
    said = swap_sentence(result).striptags()
    assert said == "With “man”, “doctor” leads (40.0%), with “woman”, “nurse” (35.0%)."
    notes = swap_notes(result).striptags()
    assert "moves 25.0% of the probability" in notes
    assert "“nurse” rises most, from 10.0% to 35.0%" in notes
    unmoved = result_of(("doctor", 0.4, 0.4), ("nurse", 0.1, 0.1))
    assert swap_notes(unmoved) == ""
    still = swap_sentence(unmoved).striptags()
    assert still == "With “man” as with “woman”, “doctor” leads (40.0%): no probability moves."
    assert swap_table(result).columns == ("token", "before", "after", "log_ratio")


@each_row("text", HOSTILE)
def test_what_a_vocabulary_holds_stays_text(text: str) -> None:
    result = result_of((text, 0.5, 0.1), ("b", 0.1, 0.2))
    assert_safe(swap_sentence(result), text)
    assert_safe(swap_notes(result), text, ("p",))
    assert_draws(swap_figure(result))
