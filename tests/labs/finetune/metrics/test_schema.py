"""What is refused, in a sentence that says why; and how numbers are rounded."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.finetune.metrics import ConfusionParams, PointsParams, decimals
from tests.rows import each_row

BAD_MATRICES = {
    "negative": ([[1, -2], [3, 4]], "whole number from 0"),
    "empty cell": ([[1, ""], [3, 4]], "whole number from 0"),
    "nothing in a cell": ([[1, None], [3, 4]], "whole number from 0"),
    "a half": ([[1, 0.5], [3, 4]], "whole number from 0"),
    "many": ([[1, "many"], [3, 4]], "whole number from 0"),
    "NaN": ([[1, math.nan], [3, 4]], "whole number from 0"),
    "infinite": ([[1, math.inf], [3, 4]], "whole number from 0"),
    "too large": ([[1, 10**10], [3, 4]], "whole number from 0"),
    "larger than a float": ([[1, 10**400], [3, 4]], "whole number from 0"),
    "all zero": ([[0, 0], [0, 0]], "nothing to measure"),
    "not square": ([[1, 2, 3], [4, 5, 6]], "as many columns as rows"),
    "a short row": ([[1, 2], [3]], "as many columns as rows"),
    "nothing at all": ([], "as many columns as rows"),
    "one class": ([[5]], "as many columns as rows"),
    "a number": (5, "list of rows"),
    "a text": ("[[1, 2], [3, 4]]", "list of rows"),
    "texts": (["ab", "cd"], "list of rows"),
    "a dictionary": ({"a": 1}, "list of rows"),
    "many classes": ([[1] * 30] * 30, "At most 20 classes"),
}


@each_row(("matrix", "hint"), BAD_MATRICES.values(), ids=BAD_MATRICES.keys())
def test_a_matrix_that_counts_nothing_gets_a_sentence(matrix: Any, hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        ConfusionParams(matrix)


def test_cells_come_as_a_page_has_them() -> None:
    assert ConfusionParams([[1.0, "2"], ["3", 4]]).matrix == ((1, 2), (3, 4))
    assert PointsParams([["0.5", 1], [2, "3"]]).points == ((0.5, 1.0), (2.0, 3.0))


BAD_POINTS = {
    "one": ([[1, 2]], "2 to 1,000 points"),
    "none": ([], "2 to 1,000 points"),
    "too many": ([[0, 0]] * 1001, "2 to 1,000 points"),
    "not finite": ([[1, 2], [math.nan, 1]], "A score is a number"),
    "infinite": ([[1, 2], [math.inf, 1]], "A score is a number"),
    "a text": ([[1, 2], ["high", 1]], "A score is a number"),
    "an empty field": ([[1, 2], [None, 1]], "A score is a number"),
    "too large": ([[1, 2], [10**400, 1]], "A score is a number"),
    "three numbers": ([[1, 2, 3], [1, 2, 3]], "list of pairs"),
    "no pairs": ([1, 2, 3], "list of pairs"),
    "nothing": (None, "list of pairs"),
}


@each_row(("points", "hint"), BAD_POINTS.values(), ids=BAD_POINTS.keys())
def test_points_that_cannot_be_drawn_get_a_sentence(points: Any, hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        PointsParams(points)


@each_row(
    ("value", "text"), [(0.0625, "0.063"), (-0.0625, "−0.063"), (0.8496, "0.850"), (-0.0001, "0.000"), (1, "1.000")]
)
def test_numbers_are_rounded_half_away_from_zero(value: float, text: str) -> None:
    assert decimals(value) == text
