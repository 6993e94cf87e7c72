"""The interval over seeds: against scipy's own test of pairs, by how often it holds the truth, and by what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_rel

from explorer.maths.intervals import paired_interval
from tests.rows import each_row


@each_row("count", [2, 3, 5, 30])
@each_row("level", [0.5, 0.95, 0.99])
def test_it_is_scipys(count: int, level: float) -> None:
    draw = np.random.default_rng(count)
    one, other = draw.normal(0.9, 0.02, count), draw.normal(0.85, 0.05, count)
    found = paired_interval(one.tolist(), other.tolist(), level)
    assert found.p == pytest.approx(ttest_rel(one, other).pvalue, rel=1e-9)
    expected = ttest_rel(one, other).confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert found.mean == pytest.approx(float(np.mean(one - other)))
    assert found.pairs == count


def test_it_holds_the_truth_as_often_as_it_says() -> None:
    draw = np.random.default_rng(0)
    held = 0
    for _ in range(2000):
        luck = draw.normal(0, 5, 5)  # of the seed: the pair shares it, so it must not widen the interval
        found = paired_interval((luck + draw.normal(1.5, 1, 5)).tolist(), luck.tolist())
        held += found.low <= 1.5 <= found.high
        assert found.high - found.low < 20
    assert held / 2000 == pytest.approx(0.95, abs=0.02)


def test_the_direction_is_said_only_where_the_interval_leaves_zero_out() -> None:
    low, high = [0.70, 0.72, 0.69, 0.71, 0.70], [0.85, 0.86, 0.87, 0.84, 0.86]
    assert paired_interval(high, low).direction == 1
    assert paired_interval(low, high).direction == -1
    assert paired_interval([0.9, 0.8, 0.9], [0.8, 0.9, 0.89]).direction == 0
    assert paired_interval([0.9, 0.9], [0.9, 0.9]).direction == 0


def test_turned_round_it_is_its_own_mirror() -> None:
    one, other = [0.9, 0.85, 0.93], [0.8, 0.86, 0.88]
    there, back = paired_interval(one, other), paired_interval(other, one)
    assert (back.mean, back.low, back.high) == pytest.approx((-there.mean, -there.high, -there.low))


def test_equal_differences_have_no_spread() -> None:
    found = paired_interval([0.75, 0.5], [0.5, 0.25])
    assert (found.low, found.mean, found.high) == (0.25, 0.25, 0.25)


@each_row(
    ("scores", "others", "level", "said"),
    [
        ([0.9], [0.8], 0.95, "two pairs"),
        ([], [], 0.95, "two pairs"),
        ([0.9, 0.8], [0.8], 0.95, "1 others"),
        ([0.9, float("nan")], [0.8, 0.7], 0.95, "finite"),
        ([0.9, 0.8], [0.8, 0.7], 1.0, "level"),
    ],
)
def test_what_has_no_interval(scores: list[float], others: list[float], level: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        paired_interval(scores, others, level)


def test_differences_that_are_equal_but_for_the_last_bit_have_no_spread() -> None:
    found = paired_interval([0.90, 0.92, 0.91], [0.80, 0.82, 0.81])
    assert found.low == found.high == found.mean == pytest.approx(0.1)
    assert found.p == pytest.approx(0.25), "the sign test's of three signs"
