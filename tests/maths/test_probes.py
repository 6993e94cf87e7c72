"""Linear probes against scikit-learn's logistic regression."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from torch.nn.functional import cross_entropy

from explorer.maths.states import fitted, standardised


def drawn(seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Points around four centres that overlap: (400, 24) and their labels."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(4, (400,), generator=generator)
    centres = torch.randn(4, 24, generator=generator)
    return centres[labels] + 2 * torch.randn(400, 24, generator=generator), labels


@pytest.mark.parametrize("penalty", [0.01, 0.1, 1.0])
def test_the_probe_is_the_one_that_scikit_learn_finds(penalty: float) -> None:
    states, labels = drawn()
    weight, bias = fitted(states.double(), labels, 4, penalty)
    other = LogisticRegression(C=1 / (penalty * len(states)), tol=1e-8, max_iter=5000).fit(states.double(), labels)
    np.testing.assert_allclose(weight.T, other.coef_, atol=1e-3)
    # Both are known up to one number for all classes.
    np.testing.assert_allclose(bias - bias.mean(), other.intercept_ - other.intercept_.mean(), atol=5e-3)


def test_no_step_from_it_makes_the_loss_smaller() -> None:
    states, labels = drawn(1)

    def loss(weight: torch.Tensor, bias: torch.Tensor) -> float:
        return float(cross_entropy(states @ weight + bias, labels) + 0.05 * weight.square().sum())

    weight, bias = fitted(states, labels, 4, 0.1)
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        step = 0.05 * torch.randn(weight.shape, generator=generator)
        assert loss(weight + step, bias) > loss(weight, bias)


def test_it_can_be_trained_where_no_gradients_are_kept() -> None:
    states, labels = drawn(2)
    expected = fitted(states, labels, 4, 0.1)
    with torch.inference_mode():
        inside = fitted(states * 1, labels + 0, 4, 0.1)
    assert all(torch.equal(one, other) for one, other in zip(inside, expected, strict=True))


def test_held_out_states_are_measured_by_the_training_states() -> None:
    training, held_out = torch.tensor([[1.0, 5.0], [3.0, 5.0]]), torch.tensor([[5.0, 7.0]])
    one, other = standardised(training, held_out)
    assert one.tolist() == [[-1.0, 0.0], [1.0, 0.0]]
    assert other.tolist() == [[3.0, 2.0]], "a dimension without deviation is only centred"
