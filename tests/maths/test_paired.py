"""Paired tests against scipy and scikit-learn, and the invariants that hold for any rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import binomtest, false_discovery_control, pearsonr, spearmanr
from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

from explorer.maths import paired
from explorer.maths.paired import STATISTICS, bootstrap_p, bootstrapped, holm, mcnemar
from tests.rows import each_row

ROWS = 60


def hits(both: int, first: int, second: int, neither: int) -> tuple[torch.Tensor, torch.Tensor]:
    counts = torch.tensor([both, first, second, neither])
    return (
        torch.tensor([True, True, False, False]).repeat_interleave(counts),
        torch.tensor([True, False, True, False]).repeat_interleave(counts),
    )


@each_row(("first", "second"), [(0, 0), (1, 0), (3, 3), (5, 1), (12, 4), (700, 600), (2000, 1)])
def test_mcnemar_is_the_binomial_test_of_the_rows_that_one_alone_has_right(first: int, second: int) -> None:
    found = mcnemar(*hits(100, first, second, 7))
    wanted = binomtest(first, first + second).pvalue if first + second else 1.0
    assert found == pytest.approx(wanted, rel=1e-9, abs=1e-300)


def test_mcnemar_knows_no_order_and_nothing_of_rows_on_which_both_agree() -> None:
    one = mcnemar(*hits(10, 9, 2, 10))
    assert one == mcnemar(*hits(10, 2, 9, 10)) == mcnemar(*hits(9999, 9, 2, 0))


def test_the_same_accuracies_can_differ_beyond_chance_or_not() -> None:
    """96 and 90 of 100: nested mistakes tell them apart, scattered ones do not; two errors of one accuracy are blind to that."""
    assert mcnemar(*hits(90, 6, 0, 4)) < 0.05 < mcnemar(*hits(86, 10, 4, 0))


@pytest.fixture
def rows() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Labels of three classes, predictions that are often right, and draws of the rows."""
    draw = torch.Generator().manual_seed(3)
    labels = torch.randint(3, (ROWS,), generator=draw)
    predictions = torch.where(torch.rand(ROWS, generator=draw) < 0.6, labels, torch.randint(3, (ROWS,), generator=draw))
    weights = torch.multinomial(torch.ones(5, ROWS), ROWS, True, generator=draw)
    return labels, predictions, torch.stack([torch.bincount(drawn, minlength=ROWS) for drawn in weights]).double()


def reference(name: str, labels: np.ndarray, guesses: np.ndarray) -> float:
    found = {
        "accuracy": lambda: accuracy_score(labels, guesses),
        "f1": lambda: f1_score(labels == 1, guesses == 1),
        "matthews": lambda: matthews_corrcoef(labels, guesses),
        "pearson": lambda: pearsonr(labels, guesses).statistic,
        "spearman": lambda: spearmanr(labels, guesses).statistic,
    }[name]()
    return float(found)


@pytest.mark.parametrize("name", STATISTICS)
def test_a_weighted_statistic_is_the_plain_one_of_repeated_rows(
    name: str, rows: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
) -> None:
    labels, guesses, weights = rows
    found = STATISTICS[name](labels, guesses, weights)
    for one, counts in zip(found.tolist(), weights.long(), strict=True):
        repeated = [given.repeat_interleave(counts).numpy() for given in (labels, guesses)]
        assert one == pytest.approx(reference(name, *repeated), abs=1e-12)


@pytest.mark.parametrize("name", ["matthews", "pearson", "spearman"])
def test_what_is_all_of_one_class_has_no_correlation(name: str) -> None:
    labels, guesses = torch.tensor([0, 1, 1, 0]), torch.tensor([1, 1, 1, 1])
    assert STATISTICS[name](labels, guesses, torch.ones(1, 4).double()).isnan().all()


def scored(noise: float, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Scores from 0 to 5, and two models: one off by 0.3 on average, one by `noise`."""
    draw = torch.Generator().manual_seed(seed)
    labels = 5 * torch.rand(150, generator=draw)
    off = torch.randn(2, 150, generator=draw)
    return labels, labels + 0.3 * off[0], labels + noise * off[1]


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_the_bootstrap_tells_a_noisy_model_from_a_good_one_and_not_from_one_as_good(name: str) -> None:
    p_values = []
    for noise in (1.5, 0.3):
        labels, *models = scored(noise)
        draws = bootstrapped(STATISTICS[name], labels, models)
        p_values.append(bootstrap_p(draws[0] - draws[1]))
    assert p_values[0] == pytest.approx(2 / 10_000)
    assert p_values[1] > 0.05


def test_the_bootstrap_of_a_mean_has_the_textbook_error() -> None:
    labels = torch.zeros(200)
    guesses = (torch.arange(200) < 60).float()  # 70% right
    draws = bootstrapped(STATISTICS["accuracy"], labels, [guesses])
    assert draws.shape == (1, 9999)
    assert draws.mean().item() == pytest.approx(0.7, abs=0.002)
    assert draws.std().item() == pytest.approx((0.7 * 0.3 / 200) ** 0.5, rel=0.05)


def test_a_model_does_not_differ_from_itself_and_no_draw_is_no_news() -> None:
    assert bootstrap_p(torch.zeros(99)) == 1.0
    assert bootstrap_p(torch.full((99,), torch.nan)) == 1.0
    assert bootstrap_p(torch.arange(1.0, 100.0)) == bootstrap_p(-torch.arange(1.0, 100.0)) == 2 / 100


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5]) == [0.5]
    assert holm([]) == []
    assert holm([0.6, 0.7]) == [1.0, 1.0]


def test_holm_lies_between_no_allowance_and_bonferroni() -> None:
    p_values = torch.rand(12, generator=torch.Generator().manual_seed(0)).pow(4).tolist()
    adjusted = holm(p_values)
    assert all(one <= after <= min(1, 12 * one) for one, after in zip(p_values, adjusted, strict=True))
    assert all(  # it controls more than the false discovery rate does
        weak <= after + 1e-12 for weak, after in zip(false_discovery_control(p_values), adjusted, strict=True)
    )
    by_size = sorted(range(12), key=p_values.__getitem__)
    assert [adjusted[place] for place in by_size] == sorted(adjusted)


def test_of_many_models_that_only_guess_one_seldom_seems_better_than_another() -> None:
    """Twelve coins on 100 rows: without an allowance some pair mostly differs, with it seldom."""
    draw = torch.Generator().manual_seed(1)
    plain = allowed = 0
    for _ in range(40):
        coins = torch.rand(12, 100, generator=draw) < 0.5
        p_values = [mcnemar(coins[one], coins[other]) for one in range(12) for other in range(one)]
        plain += min(p_values) < 0.05
        allowed += min(holm(p_values)) < 0.05
    assert plain > 20
    assert allowed <= 4


def test_means_over_words_are_drawn_by_whole_sentences() -> None:
    counts = torch.tensor([1.0, 3.0, 2.0, 4.0, 2.0]).double()
    totals = torch.tensor([1.0, 0.0, 2.0, 1.0, 1.0]).double()
    draws = paired.bootstrapped_means([totals, 2 * totals, counts], counts)
    assert draws.shape == (3, paired.DRAWS)
    torch.testing.assert_close(draws[1], 2 * draws[0])
    torch.testing.assert_close(draws[2], torch.ones(paired.DRAWS).double())
    generator, rows = np.random.default_rng(1), np.arange(5)
    drawn = generator.choice(rows, (20_000, 5))
    expected = totals.numpy()[drawn].sum(1) / counts.numpy()[drawn].sum(1)
    low, high = paired.interval(draws[0])
    assert (low, high) == pytest.approx(tuple(np.quantile(expected, [0.025, 0.975])), abs=0.03)


def test_the_interval_holds_the_middle_of_the_draws() -> None:
    low, high = paired.interval(torch.arange(101).double(), 0.9)
    assert (low, high) == pytest.approx((5, 95))
