"""Which units go."""

from __future__ import annotations

import pytest

from explorer.compress.cuts import Cut, Shape, check_cut, choose, in_order, kept_of_share
from explorer.errors import BadInputError
from tests.rows import each_row

GRID = [[5.0, 1.0, 3.0, 4.0], [0.5, 9.0, 2.0, 8.0]]


def gone(chosen: bytes) -> list[int]:
    return [place for place, flag in enumerate(chosen) if flag]


def test_the_least_important_go_wherever_they_are() -> None:
    assert gone(choose(GRID, 5)) == [1, 4, 6]
    assert gone(choose(GRID, 5, "most")) == [0, 5, 7]
    assert gone(choose(GRID, 8)) == []


def test_even_takes_as_many_from_each_row() -> None:
    assert gone(choose(GRID, 2, even=True)) == [1, 2, 4, 6]


def test_what_is_gone_stays_gone() -> None:
    before = choose(GRID, 7, "most")
    assert gone(before) == [5]
    assert gone(choose(GRID, 6, "least", gone=before)) == [4, 5]


def test_random_orders_differ_by_their_seed_alone() -> None:
    assert in_order([1.0] * 20, "random", 1) == in_order([2.0] * 20, "random", 1)
    assert in_order([1.0] * 20, "random", 1) != in_order([1.0] * 20, "random", 2)
    assert sum(choose(GRID, 3, "random", 4)) == 5


@each_row(("units", "share", "kept"), [(72, 0.5, 36), (72, 0.1, 65), (10, 0.99, 0), (6, 0.5, 3)])
def test_how_many_are_left(units: int, share: float, kept: int) -> None:
    assert kept_of_share(units, share) == kept


def test_a_cut_of_another_shape_is_refused() -> None:
    shape = Shape(12, 1, 4, 8)
    assert shape.shared
    assert [shape.block_of(depth) for depth in range(12)] == [0] * 12
    check_cut(Cut(heads=b"\1\0\0\0", layers=bytes(12)), shape)
    with pytest.raises(BadInputError, match="Every head"):
        check_cut(Cut(heads=b"\1" * 4), shape)
    with pytest.raises(BadInputError, match="48 heads"):
        check_cut(Cut(heads=bytes(48)), shape)
