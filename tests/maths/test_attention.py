"""Numbers about a head, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from explorer.maths.attention import STATISTICS, head_statistics

LENGTH = 6


def one(weights: torch.Tensor, separators: tuple[int, ...] = (2, LENGTH - 1)) -> dict[str, float]:
    return {name: float(value[0]) for name, value in head_statistics(weights[None], separators).items()}


def test_a_head_that_looks_at_all_alike() -> None:
    found = one(torch.full((LENGTH, LENGTH), 1 / LENGTH))
    assert found["entropy"] == pytest.approx(math.log2(LENGTH))
    assert found["to_first"] == pytest.approx(1 / LENGTH)
    assert found["to_separator"] == pytest.approx(2 / LENGTH)
    apart = [abs(i - j) for i in range(LENGTH) for j in range(LENGTH)]
    assert found["distance"] == pytest.approx(sum(apart) / LENGTH**2)


@pytest.mark.parametrize(("offset", "name"), [(-1, "to_previous"), (1, "to_next"), (0, "to_itself")])
def test_a_head_with_one_habit(offset: int, name: str) -> None:
    weights = torch.zeros(LENGTH, LENGTH)
    for i in range(LENGTH):
        weights[i, min(max(i + offset, 0), LENGTH - 1)] = 1.0
    found = one(weights)
    assert found["entropy"] == 0.0
    assert found[name] == pytest.approx(1.0)
    assert all(found[other] < 0.5 for other in ("to_previous", "to_next", "to_itself") if other != name)


def test_against_numpy_on_random_heads() -> None:
    weights = torch.rand(3, LENGTH, LENGTH, generator=torch.Generator().manual_seed(0)).softmax(-1)
    found = head_statistics(weights, (4,))
    assert tuple(found) == STATISTICS
    a = weights.double().numpy()
    i, j = np.indices((LENGTH, LENGTH))
    for head in range(3):
        w = a[head]
        expected = {
            "entropy": -(w * np.log2(w)).sum(1).mean(),
            "distance": (w * abs(i - j)).sum(1).mean(),
            "to_first": w[:, 0].mean(),
            "to_separator": w[:, 4].mean(),
            "to_previous": np.mean([w[k, k - 1] for k in range(1, LENGTH)]),
            "to_next": np.mean([w[k, k + 1] for k in range(LENGTH - 1)]),
            "to_itself": np.trace(w) / LENGTH,
        }
        for name, value in expected.items():
            assert float(found[name][head]) == pytest.approx(value, abs=1e-5), name


def test_one_token_and_no_separator() -> None:
    found = head_statistics(torch.ones(1, 1, 1), ())
    assert "to_separator" not in found
    assert float(found["to_previous"][0]) == float(found["to_next"][0]) == 0.0
    assert float(found["to_itself"][0]) == 1.0
