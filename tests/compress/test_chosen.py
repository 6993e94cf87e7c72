"""From importances to what goes."""

from __future__ import annotations

import math
from random import Random

import pytest

from explorer.compress.cuts import Cut, Shape, by_hand, chosen, share_gone
from explorer.errors import BadInputError

SHAPE = Shape(2, 2, 4, 8)
SHARED = Shape(3, 1, 4, 8)


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
