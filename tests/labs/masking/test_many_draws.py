"""Shares over many draws, and static beside dynamic masking."""

from __future__ import annotations

from collections import Counter

import pytest
from scipy import stats

from explorer.errors import BadInputError
from explorer.labs.masking.jobs import corruption_shares, masking_patterns
from explorer.labs.masking.schema import PatternsParams, PatternsResult, SharesParams
from explorer.models.loaded_model import LoadedModel
from tests.rows import each_row

FALSE_ALARM = 1e-6
"""How often a right implementation would fail a statistical test here, were the seed not fixed."""

TEXT = "The river Thames flows through London, and many old stone bridges cross it on its long way to the sea."


def test_the_last_shares_lie_near_the_sliders(loaded: LoadedModel) -> None:
    """Each chosen token's fate is drawn on its own, so each count is binomial."""
    result = corruption_shares(loaded, SharesParams(TEXT, mask_share=0.7, random_share=0.2, draws=2000))
    assert result.expected == pytest.approx((0.15, 0.7, 0.2, 0.1))
    chosen = result.chosen_tokens
    for share, expected in zip((result.mask, result.random, result.kept), result.expected[1:], strict=True):
        assert stats.binomtest(round(share[-1] * chosen), chosen, expected).pvalue > FALSE_ALARM
    assert stats.binomtest(round(result.mask[-1] * chosen), chosen, 0.75).pvalue < FALSE_ALARM


def test_totals_and_shares_agree(loaded: LoadedModel) -> None:
    result = corruption_shares(loaded, SharesParams(TEXT, draws=500))
    budget = max(1, round(0.15 * result.candidates))
    assert result.candidates == len(loaded.tokenizer.tokenize(TEXT))
    assert result.chosen_tokens == 500 * budget
    assert result.chosen == pytest.approx([budget / result.candidates] * len(result.draws))
    for three in zip(result.mask, result.random, result.kept, strict=True):
        assert sum(three) == pytest.approx(1.0)


@each_row("draws", [1, 2, 3, 10, 99, 1000, 4999, 5000])
def test_the_curve_ends_at_the_last_draw_and_only_goes_on(loaded: LoadedModel, draws: int) -> None:
    points = corruption_shares(loaded, SharesParams("A b c.", draws=draws)).draws
    assert points[0] == 1
    assert points[-1] == draws
    assert list(points) == sorted(set(points))


def test_a_longer_run_begins_like_a_shorter_one(loaded: LoadedModel) -> None:
    """The draws add up: after one draw both have seen the same."""
    short = corruption_shares(loaded, SharesParams(TEXT, draws=1))
    long = corruption_shares(loaded, SharesParams(TEXT, draws=100))
    assert (short.mask[0], short.random[0], short.kept[0]) == (long.mask[0], long.random[0], long.kept[0])


def test_rate_zero_divides_nothing_by_nothing(loaded: LoadedModel) -> None:
    result = corruption_shares(loaded, SharesParams(TEXT, rate=0.0, draws=20))
    assert result.chosen_tokens == 0
    assert set(result.chosen) == set(result.mask) == set(result.random) == set(result.kept) == {0.0}


@pytest.mark.parametrize(("mask", "random"), [(0.8, 0.2), (0.7, 0.3), (0.9, 0.1)])
def test_shares_that_fill_everything_expect_exactly_nothing_to_stay(
    loaded: LoadedModel, mask: float, random: float
) -> None:
    """In floats 1 - 0.8 - 0.2 is below zero and 1 - 0.7 - 0.3 above."""
    expected = corruption_shares(loaded, SharesParams(TEXT, mask_share=mask, random_share=random, draws=1)).expected
    assert str(expected[3]) == "0.0"


def patterns(loaded: LoadedModel, **more: int) -> PatternsResult:
    return masking_patterns(loaded, PatternsParams(TEXT, **more))  # type: ignore[arg-type]


def test_forty_epochs_of_ten_copies_show_each_static_masking_four_times(loaded: LoadedModel) -> None:
    """RoBERTa, section 4.1: data duplicated 10 times, 40 epochs, so each masking is seen 4 times."""
    result = patterns(loaded, epochs=40, duplicates=10)
    assert len(result.static) == len(result.dynamic) == 40
    assert sorted(Counter(result.static).values()) == [4] * 10
    assert result.distinct_static == len(set(result.static)) == 10
    assert result.distinct_dynamic == len(set(result.dynamic)) > 10


@each_row(("epochs", "duplicates"), [(1, 1), (7, 3), (5, 100), (100, 1)])
def test_static_masking_repeats_its_copies_in_turn(loaded: LoadedModel, epochs: int, duplicates: int) -> None:
    result = patterns(loaded, epochs=epochs, duplicates=duplicates)
    assert len(result.static) == len(result.dynamic) == epochs
    assert result.distinct_static <= min(epochs, duplicates)
    assert result.static[duplicates:] == result.static[: max(0, epochs - duplicates)]


def test_each_row_covers_the_text_and_spares_special_tokens(loaded: LoadedModel) -> None:
    result = patterns(loaded)
    assert result.tokens[0] == "[CLS]"
    assert result.tokens[-1] == "[SEP]"
    for row in (*result.static, *result.dynamic):
        assert len(row) == len(result.tokens)
        assert row[0] == row[-1] == 0
        assert any(row)


def test_jobs_of_many_draws_refuse_a_text_without_words(loaded: LoadedModel) -> None:
    with pytest.raises(BadInputError, match="special tokens"):
        corruption_shares(loaded, SharesParams("[SEP]"))
    with pytest.raises(BadInputError, match="special tokens"):
        masking_patterns(loaded, PatternsParams("[SEP]"))
