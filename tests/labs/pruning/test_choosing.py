"""From sums to importances, and from importances to what goes."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
from scipy.stats import spearmanr

from explorer.compress.cuts import Cut, Shape
from explorer.errors import BadInputError
from explorer.labs.pruning.choosing import (
    added,
    agreement,
    by_hand,
    chosen,
    importance_of,
    rank_correlation,
    share_gone,
)
from explorer.labs.pruning.schema import UnitSums
from explorer.maths.importance import mean_and_error, sums

SHAPE = Shape(2, 2, 4, 8)
SHARED = Shape(3, 1, 4, 8)


def part(gradients: torch.Tensor) -> UnitSums:
    found = sums(gradients)
    return UnitSums(tuple(map(tuple, found.absolute.tolist())), tuple(map(tuple, found.squares.tolist())), found.count)


@pytest.fixture
def gradients() -> torch.Tensor:
    return torch.randn(40, 2, 5, generator=torch.Generator().manual_seed(0))


def test_plain_python_agrees_with_torch(gradients: torch.Tensor) -> None:
    parts = [part(gradients[:10]), part(gradients[10:])]
    grid, errors = importance_of(added(parts), "gradient")
    mean, error = mean_and_error(sums(gradients))
    assert torch.allclose(torch.tensor(grid, dtype=torch.float64), mean)
    assert torch.allclose(torch.tensor(errors, dtype=torch.float64), error)
    normal, _ = importance_of(added(parts), "normalised")
    assert torch.allclose(torch.tensor(normal, dtype=torch.float64), mean / mean.norm(dim=-1, keepdim=True))
    assert importance_of(part(gradients[:1]), "gradient")[1] == ((None,) * 5,) * 2


def test_agreement_is_between_examples_that_are_not_shared(gradients: torch.Tensor) -> None:
    parts = [part(gradients[start : start + 10]) for start in range(0, 40, 10)]
    found = dict(agreement(parts))
    assert set(found) == {10, 20}
    first, others = gradients[:20].abs().mean(0).flatten(), gradients[20:].abs().mean(0).flatten()
    assert found[20] == pytest.approx(spearmanr(first, others).statistic)
    assert agreement(parts[:1]) == ()


def test_rank_correlation_is_scipys() -> None:
    draw = Random(0)
    one, other = ([draw.randint(0, 5) for _ in range(30)] for _ in range(2))
    assert rank_correlation(one, other) == pytest.approx(spearmanr(one, other).statistic)
    assert rank_correlation(one, [1.0] * 30) == 0


def grids(seed: int = 0) -> dict[str, tuple[tuple[float, ...], ...]]:
    draw = Random(seed)
    return {
        "head": tuple(tuple(draw.random() for _ in range(4)) for _ in range(2)),
        "neuron": tuple(tuple(draw.random() for _ in range(8)) for _ in range(2)),
    }


def test_a_share_in_steps_ends_where_one_step_does() -> None:
    at_once = chosen(grids(), SHAPE, 0.5, "least", 0)
    cut = Cut()
    for step in range(1, 5):
        before, cut = cut, chosen(grids(), SHAPE, 0.5, "least", 0, before=cut, part=step / 4)
        assert all(later >= earlier for earlier, later in zip(before.heads or bytes(8), cut.heads, strict=True))
    assert cut == at_once
    assert share_gone(cut, "both", SHAPE) == 0.5


def test_a_budget_is_what_each_layer_keeps() -> None:
    cut = chosen(grids(), SHAPE, 0.5, "least", 0, even=True, budget={"head": 3, "neuron": 2})
    assert [sum(cut.heads[:4]), sum(cut.heads[4:])] == [1, 1]
    assert [sum(cut.neurons[:8]), sum(cut.neurons[8:])] == [6, 6]
    on_average = chosen(grids(), SHAPE, 0.5, "least", 0, budget={"head": 3, "neuron": 0})
    assert sum(on_average.heads) == 2
    assert not on_average.neurons
    with pytest.raises(BadInputError, match="4 heads, so it cannot keep 5"):
        chosen(grids(), SHAPE, 0.5, "least", 0, budget={"head": 5, "neuron": 0})


def test_something_is_always_left() -> None:
    cut = chosen({"layer": ((0.1, 0.2),)}, SHAPE, 0.99, "least", 0)
    assert sum(cut.layers) == 1


def test_heads_by_hand() -> None:
    assert by_hand(((1, 2),), SHAPE) == b"\0\0\0\0\0\0\1\0"
    assert by_hand(((2, 1), (0, 1)), SHARED) == b"\0\1\0\0", "a shared head goes at every depth"
    with pytest.raises(BadInputError, match="layers are 0 to 1, heads 0 to 3"):
        by_hand(((2, 0),), SHAPE)
    assert math.isclose(share_gone(Cut(heads=b"\0\1\0\0"), "head", SHARED), 0.25)
