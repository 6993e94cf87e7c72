"""What the masking lab's parameters accept, and how they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.kinds import Whole
from explorer.labs.masking.schema import (
    CorruptParams,
    FillParams,
    PatternsParams,
    SharesParams,
)
from tests.rows import each_row

NO_NUMBERS = ("x", "", None, float("nan"), float("inf"), [], {}, "1e3")


@pytest.mark.parametrize("top_k", [0, -1, 51, 10**9, pytest.param(10**5000, id="huge"), *NO_NUMBERS])
def test_a_top_k_that_cannot_be_is_refused_by_name(top_k: Any) -> None:
    with pytest.raises(BadInputError, match=r"^top_k must be a whole number from 1 to 50"):
        FillParams("a", top_k=top_k)


@each_row(("top_k", "number"), [(1, 1), (50, 50), ("7", 7), (5.0, 5)])
def test_a_top_k_becomes_a_whole_number(top_k: Any, number: int) -> None:
    made = FillParams("a", top_k=top_k).top_k
    assert made == number
    assert type(made) is int


@each_row("also_mask", [None, 3, 2.5, {"a": 1}])
def test_an_also_mask_that_is_no_list_is_refused(also_mask: Any) -> None:
    with pytest.raises(BadInputError, match="also_mask takes"):
        FillParams("a", also_mask=also_mask)


@each_row(
    ("also_mask", "places"),
    [("", ()), (" , ", ()), ("3, Paris", (3, "Paris")), (["3", 4, " Rome "], (3, 4, "Rome")), ("²", ("²",))],
)
def test_also_mask_becomes_a_tuple_of_positions_and_words(also_mask: Any, places: tuple[int | str, ...]) -> None:
    assert FillParams("a", also_mask=also_mask).also_mask == places


@each_row("spans", [None, 5, "ab", [1, 2], [("a", "b")], [(1, 2, 3)], [(None, 1)], [(0, float("inf"))]])
def test_spans_that_are_no_pairs_are_refused(spans: Any) -> None:
    with pytest.raises(BadInputError, match="spans takes"):
        FillParams("a", spans=spans)


def test_a_client_s_lists_become_parameters_that_the_cache_can_hold() -> None:
    params = FillParams("a", also_mask=["b", 1], spans=[[0, 5]])  # type: ignore[arg-type]
    assert hash(params) == hash(FillParams("a", also_mask=("b", 1), spans=((0, 5),)))


@pytest.mark.parametrize("name", ["rate", "mask_share", "random_share"])
@pytest.mark.parametrize(
    "value", [-0.01, 1.01, float("nan"), float("inf"), "x", None, [], pytest.param(10**400, id="huge")]
)
def test_a_share_outside_0_and_1_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(BadInputError, match=f"^{name} must lie between 0 and 1"):
        CorruptParams("a", **{name: value})


def test_shares_that_add_up_to_more_than_everything_are_refused() -> None:
    with pytest.raises(BadInputError, match=r"80%.*30%.*more than 100%"):
        CorruptParams("a", mask_share=0.8, random_share=0.3)


@each_row(("mask", "random"), [(0.8, 0.2), (0.7, 0.3), (0.9, 0.1), (1.0, 0.0), (0.0, 1.0)])
def test_shares_that_add_up_to_everything_are_accepted(mask: float, random: float) -> None:
    assert CorruptParams("a", mask_share=mask, random_share=random).random_share == random


@pytest.mark.parametrize("scheme", ["", "words", None, [], "TOKEN", pytest.param("x" * 1000, id="long")])
def test_an_unknown_scheme_is_refused_with_the_known_ones(scheme: Any) -> None:
    with pytest.raises(BadInputError, match="token, whole_word, ngram") as caught:
        CorruptParams("a", scheme=scheme)
    assert len(str(caught.value)) < 150


@each_row(
    ("kind", "name", "wrong"),
    [
        (CorruptParams, "seed", -1),
        (CorruptParams, "seed", 2**31),
        (SharesParams, "draws", 0),
        (SharesParams, "draws", 5001),
        (PatternsParams, "epochs", 101),
        (PatternsParams, "duplicates", 0),
        *((SharesParams, "draws", value) for value in NO_NUMBERS),
    ],
)
def test_counts_out_of_bounds_are_refused_by_name(kind: type, name: str, wrong: Any) -> None:
    with pytest.raises(BadInputError, match=f"^{name} must be a whole number from"):
        kind("a", **{name: wrong})


@pytest.mark.parametrize("kind", [SharesParams, PatternsParams])
def test_parameters_with_counts_check_the_shares_too(kind: type) -> None:
    with pytest.raises(BadInputError, match="rate"):
        kind("a", rate=2)


def test_numbers_come_in_plain_types() -> None:
    assert type(CorruptParams("a", rate="0.5").rate) is float  # type: ignore[arg-type]
    assert type(Whole(0, 5).read(True, "seed")) is int
