"""Metrics of a classifier from its confusion matrix alone, in plain Python: a page recomputes them while it is edited.

matrix[i][j] counts the examples of class i that were predicted as class j, as scikit-learn writes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.errors import BadInputError

Matrix = Sequence[Sequence[int]]
LARGEST_COUNT = 10**9


def checked_matrix(rows: Sequence[Sequence[object]]) -> tuple[tuple[int, ...], ...]:
    """A visitor's matrix as whole numbers; raise BadInputError unless it is square and holds counts."""
    if len(rows) < 2 or any(len(row) != len(rows) for row in rows):
        raise BadInputError("A confusion matrix has as many columns as rows, one for each class, and at least two.")
    return tuple(tuple(_count(cell) for cell in row) for row in rows)


def accuracy(matrix: Matrix) -> float | None:
    """The diagonal's share of all examples; None without any."""
    return _ratio(sum(matrix[place][place] for place in range(len(matrix))), sum(map(sum, matrix)))


def precision(matrix: Matrix, positive: int = 1) -> float | None:
    """TP / (TP + FP): the share of what was called positive that is; None where nothing was called positive."""
    return _ratio(matrix[positive][positive], sum(row[positive] for row in matrix))


def recall(matrix: Matrix, positive: int = 1) -> float | None:
    """TP / (TP + FN): the share of the positive examples that was found; None where there are none."""
    return _ratio(matrix[positive][positive], sum(matrix[positive]))


def f1(matrix: Matrix, positive: int = 1) -> float | None:
    """2 TP / (2 TP + FP + FN), the harmonic mean of precision and recall; None where TP = FP = FN = 0."""
    true = matrix[positive][positive]
    return _ratio(2 * true, sum(row[positive] for row in matrix) + sum(matrix[positive]))


def matthews(matrix: Matrix) -> float | None:
    """Matthews correlation for any number of classes (Gorodkin 2004), in [-1, 1].

    (c s - sum_k p_k t_k) / sqrt((s² - sum_k p_k²)(s² - sum_k t_k²)), with c right of s examples, class k true t_k times
    and predicted p_k times. None where all examples are, or are called, of one class: the denominator is 0.
    """
    right = sum(matrix[place][place] for place in range(len(matrix)))
    true = [sum(row) for row in matrix]
    predicted = [sum(row[place] for row in matrix) for place in range(len(matrix))]
    total = sum(true)
    together = right * total - sum(p * t for p, t in zip(predicted, true, strict=True))
    spread = (total**2 - sum(p * p for p in predicted)) * (total**2 - sum(t * t for t in true))
    return together / math.sqrt(spread) if spread else None


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _count(cell: object) -> int:
    try:
        number = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= LARGEST_COUNT or number != int(number):
        raise BadInputError(f"Each cell counts examples: a whole number from 0 to {LARGEST_COUNT:,}; got {cell!r}.")
    return int(number)
