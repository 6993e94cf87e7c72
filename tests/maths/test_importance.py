"""Scores against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

from explorer.maths.importance import (
    agreement,
    first_order,
    lowest,
    magnitude,
    mean_and_error,
    movement,
    normalised,
    rank_correlation,
    sums,
)


@pytest.fixture
def draw() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_the_absolute_value_is_taken_per_example(draw: torch.Generator) -> None:
    gradients = torch.randn(10, 2, 3, generator=draw)
    mean, error = mean_and_error(sums(gradients[:4]) + sums(gradients[4:]))
    assert np.allclose(mean, np.abs(gradients.numpy()).mean(0))
    assert np.allclose(error, np.abs(gradients.numpy()).std(0, ddof=1) / np.sqrt(10))
    opposite = torch.tensor([[1.0], [-1.0]])
    assert mean_and_error(sums(opposite))[0].item() == 1


def test_one_example_has_no_error() -> None:
    assert mean_and_error(sums(torch.ones(1, 2)))[1].isnan().all()


def test_scores_of_single_weights(draw: torch.Generator) -> None:
    weight, gradient = torch.randn(4, 5, generator=draw), torch.randn(4, 5, generator=draw)
    w, g = weight.numpy(), gradient.numpy()
    assert np.array_equal(magnitude(weight), np.abs(w))
    assert np.allclose(first_order(weight, gradient), np.abs(w * g))
    assert np.allclose(movement(weight, gradient), -w * g)


@pytest.mark.parametrize("count", [-1, 0, 1, 7, 19, 20, 25])
def test_exactly_so_many_are_lowest(draw: torch.Generator, count: int) -> None:
    scores = torch.randint(0, 4, (20,), generator=draw).float()
    mask = lowest(scores, count)
    assert int(mask.sum()) == min(max(count, 0), 20)
    if 0 < count < 20:
        assert scores[mask].max() <= scores[~mask].min()


def test_normalised_rows_have_norm_1(draw: torch.Generator) -> None:
    mean, error = mean_and_error(sums(torch.randn(10, 2, 5, generator=draw)))
    normal, wrong = normalised(mean, error)
    norms = np.linalg.norm(mean.numpy(), axis=-1, keepdims=True)
    assert np.allclose(normal, mean.numpy() / norms)
    assert np.allclose(wrong, error.numpy() / norms)
    nothing = torch.zeros(1, 3)
    assert torch.equal(normalised(nothing, nothing)[0], nothing)


def test_agreement_is_between_examples_that_are_not_shared(draw: torch.Generator) -> None:
    gradients = torch.randn(40, 2, 5, generator=draw)
    parts = [sums(gradients[start : start + 10]) for start in range(0, 40, 10)]
    found = dict(agreement(parts))
    assert set(found) == {10, 20}
    first, others = gradients[:20].abs().mean(0).flatten(), gradients[20:].abs().mean(0).flatten()
    assert found[20] == pytest.approx(spearmanr(first, others).statistic)
    assert agreement(parts[:1]) == ()


def test_rank_correlation_is_scipys(draw: torch.Generator) -> None:
    one, other = torch.randint(0, 6, (2, 30), generator=draw)
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert rank_correlation(one, torch.ones(30)) == 0
