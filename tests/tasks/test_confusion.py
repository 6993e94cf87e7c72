"""Metrics of a confusion matrix against scikit-learn on the examples that it counts."""

from __future__ import annotations

import random

import pytest
from sklearn import metrics

from explorer.errors import BadInputError
from explorer.tasks import confusion


def expanded(matrix: list[list[int]]) -> tuple[list[int], list[int]]:
    """The labels and predictions that a matrix counts."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    return [true for true, _ in cells], [guess for _, guess in cells]


def drawn(seed: int, classes: int) -> list[list[int]]:
    chance = random.Random(seed)
    return [[chance.randrange(1, 20) for _ in range(classes)] for _ in range(classes)]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_any_number_of_classes(seed: int, classes: int) -> None:
    matrix = drawn(seed, classes)
    labels, guesses = expanded(matrix)
    assert metrics.confusion_matrix(labels, guesses).tolist() == matrix
    assert confusion.accuracy(matrix) == pytest.approx(metrics.accuracy_score(labels, guesses))
    assert confusion.matthews(matrix) == pytest.approx(metrics.matthews_corrcoef(labels, guesses))
    for place in range(classes):
        one = {"labels": [place], "average": "macro"}
        assert confusion.precision(matrix, place) == pytest.approx(metrics.precision_score(labels, guesses, **one))
        assert confusion.recall(matrix, place) == pytest.approx(metrics.recall_score(labels, guesses, **one))
        assert confusion.f1(matrix, place) == pytest.approx(metrics.f1_score(labels, guesses, **one))


def test_two_classes_look_at_class_1_unless_told_otherwise() -> None:
    matrix = [[50, 10], [5, 35]]
    assert confusion.precision(matrix) == pytest.approx(35 / 45)
    assert confusion.recall(matrix) == pytest.approx(35 / 40)
    assert confusion.f1(matrix) == pytest.approx(70 / 85)


def test_a_rare_class_that_is_never_found_shows_in_f1_and_matthews_alone() -> None:
    matrix = [[94, 1], [5, 0]]
    assert confusion.accuracy(matrix) == pytest.approx(0.94)
    assert confusion.f1(matrix) == 0
    value = confusion.matthews(matrix)
    assert value is not None
    assert value < 0


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("accuracy", [[0, 0], [0, 0]]),
        ("precision", [[5, 0], [3, 0]]),
        ("recall", [[5, 2], [0, 0]]),
        ("f1", [[5, 0], [0, 0]]),
        ("matthews", [[5, 0], [3, 0]]),
        ("matthews", [[5, 2], [0, 0]]),
        ("matthews", [[0, 0], [0, 0]]),
    ],
)
def test_a_formula_that_divides_by_zero_gives_none(name: str, matrix: list[list[int]]) -> None:
    assert getattr(confusion, name)(matrix) is None


def test_the_largest_counts_do_not_overflow() -> None:
    largest = confusion.LARGEST_COUNT
    assert confusion.matthews([[largest, 0], [0, largest]]) == pytest.approx(1)


def test_cells_come_as_a_page_has_them() -> None:
    assert confusion.checked_matrix([[1.0, "2"], ["3", 4]]) == ((1, 2), (3, 4))


@pytest.mark.parametrize("cell", [-1, 0.5, "", "many", None, float("nan"), float("inf"), 10**10])
def test_a_cell_that_counts_nothing_is_named(cell: object) -> None:
    with pytest.raises(BadInputError, match="whole number"):
        confusion.checked_matrix([[1, 2], [cell, 4]])


@pytest.mark.parametrize("rows", [[], [[1]], [[1, 2]], [[1, 2], [3]], [[1, 2, 3], [4, 5, 6]]])
def test_a_matrix_is_square(rows: list[list[int]]) -> None:
    with pytest.raises(BadInputError, match="as many columns as rows"):
        confusion.checked_matrix(rows)
