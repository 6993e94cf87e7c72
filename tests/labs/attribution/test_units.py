"""Words out of tokens, and rank correlation against scipy."""

from __future__ import annotations

import random

import pytest
from scipy.stats import spearmanr

from explorer.labs.attribution.schema import TokenView, spearman, summed, units_of
from tests.rows import each_row


@each_row("length", [3, 4, 17, 200])
@each_row("levels", [2, 5, 10_000])
def test_rank_correlation_is_scipys_with_ties_and_without(length: int, levels: int) -> None:
    draw = random.Random(length * levels)
    for _ in range(5):
        first = [float(draw.randrange(levels)) for _ in range(length)]
        second = [float(draw.randrange(levels)) for _ in range(length)]
        found = spearman(first, second)
        if len(set(first)) == 1 or len(set(second)) == 1:
            assert found is None
        else:
            assert found == pytest.approx(spearmanr(first, second).statistic, abs=1e-12)


def test_rank_correlation_knows_order_alone() -> None:
    values = [0.1, 7.0, 0.3, 2.0]
    assert spearman(values, [value**3 for value in values]) == pytest.approx(1)
    assert spearman(values, [-value for value in values]) == pytest.approx(-1)
    assert spearman([1.0, 2.0], [2.0, 1.0]) is None
    assert spearman([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]) is None


TOKENS = tuple(
    TokenView(place, text, shown, joined, kept, segment)
    for place, (text, shown, joined, kept, segment) in enumerate(
        [
            ("[CLS]", "[CLS]", False, True, 0),
            ("mil", "mil", False, False, 0),
            ("##ked", "ked", True, False, 0),
            ("[SEP]", "[SEP]", False, True, 0),
            ("cow", "cow", False, False, 1),
            ("##s", "s", True, False, 1),
            ("##!", "!", True, False, 1),
        ]
    )
)


def test_tokens_stand_alone_and_words_together() -> None:
    assert [unit.positions for unit in units_of(TOKENS, "tokens")] == [(place,) for place in range(7)]
    words = units_of(TOKENS, "words")
    assert [unit.positions for unit in words] == [(0,), (1, 2), (3,), (4, 5, 6)]
    assert [unit.shown for unit in words] == ["[CLS]", "milked", "[SEP]", "cows!"]
    assert [unit.kept for unit in words] == [True, False, True, False]
    assert not any(unit.joined for unit in words)
    assert [unit.text for unit in units_of(TOKENS, "tokens")][2] == "##ked"


def test_sums_lose_nothing() -> None:
    values = [0.5, 1.0, -2.0, 0.0, 3.0, 0.25, -0.25]
    for by in ("tokens", "words"):
        assert sum(summed(values, units_of(TOKENS, by))) == pytest.approx(sum(values))
    assert summed(values, units_of(TOKENS, "words")) == (0.5, -1.0, 0.0, 3.0)
