"""Numbers as sliders and clients send them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.kinds import Exact, Number
from tests.rows import each_row


@each_row(("value", "number"), [(1, 1.0), ("0.5", 0.5), (2.0, 2.0), (0, 0.0)])
def test_a_number_from_whatever_was_sent(value: Any, number: float) -> None:
    assert Number(0, 2).read(value, "alpha") == number


@each_row("value", [None, "hot", math.nan, math.inf, -0.1, 2.1, [], 10**400])
def test_no_number_in_its_range(value: Any) -> None:
    with pytest.raises(BadInputError, match="alpha must be a number from 0 to 2; got"):
        Number(0, 2).read(value, "alpha")


def test_the_lower_bound_may_be_left_out() -> None:
    assert Number(0, 20, above=True).read(1e-9, "T") == 1e-9
    with pytest.raises(BadInputError, match="T must be a number above 0 to 20; got 0"):
        Number(0, 20, above=True).read(0, "T")


def test_half_a_number_is_refused_where_a_whole_one_is_meant() -> None:
    assert Exact(1, 4).read(3.0, "rank") == 3
    assert isinstance(Exact(1, 4).read("3", "rank"), int)
    with pytest.raises(BadInputError, match=r"rank must be a whole number; got 2\.5"):
        Exact(1, 4).read(2.5, "rank")
    with pytest.raises(BadInputError, match="rank must be a number from 1 to 4"):
        Exact(1, 4).read(5, "rank")
