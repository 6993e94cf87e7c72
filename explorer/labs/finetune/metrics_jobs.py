"""Take metrics apart: each one's value by scikit-learn or scipy, and its formula with the numbers put in. No model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from explorer.labs.finetune.metrics import (
    Cloud,
    ConfusionParams,
    Correlated,
    Fraction,
    Matrix,
    Points,
    PointsParams,
    TakenApart,
    TakenMetric,
    Without,
    decimals,
)
from explorer.tasks.metrics import METRICS, Counted, counted

LARGEST_PLAIN = 1e6
"""Sums from here on are written with a power of ten."""

ROUNDING = 1e-12
"""A share of a sum of squares below which it may be nothing but rounding."""


def take_metrics_apart(params: ConfusionParams) -> TakenApart:
    """Compute accuracy, precision, recall, F1 and Matthews; of more than two classes the unweighted means of the middle
    three.
    """
    found = counted(params.matrix)
    metrics = _of_two(params.matrix, found) if len(params.matrix) == 2 else _of_many(params.matrix, found)
    return TakenApart(metrics, params.matrix, _with_zeros(found.f1))


def correlate(params: PointsParams) -> Correlated:
    """Compute Pearson of the scores x and y, and Spearman: Pearson of their ranks p and q."""
    from scipy.stats import rankdata

    points = params.points
    true, predicted = zip(*points, strict=True)
    ranked = tuple(zip(rankdata(true).tolist(), rankdata(predicted).tolist(), strict=True))
    pearson, spearman = (METRICS[name].compute(true, predicted) for name in ("pearson", "spearman"))
    metrics = (
        TakenMetric("pearson", "Pearson", pearson, _products(points, "x", "y")),
        TakenMetric("spearman", "Spearman", spearman, _products(ranked, "p", "q")),
    )
    return Correlated(metrics, _cloud(points), _cloud(ranked), _without(points, pearson))


def _of_two(matrix: Matrix, found: Counted) -> tuple[TakenMetric, ...]:
    (tn, fp), (fn, tp) = matrix
    total = tn + fp + fn + tp
    fractions = (
        Fraction(("TP + TN", f"{tp} + {tn}"), ("N", f"{total}")),
        Fraction(("TP", f"{tp}"), ("TP + FP", f"{tp} + {fp}")),
        Fraction(("TP", f"{tp}"), ("TP + FN", f"{tp} + {fn}")),
        Fraction(("2·TP", f"2·{tp}"), ("2·TP + FP + FN", f"2·{tp} + {fp} + {fn}")),
        Fraction(
            ("TP·TN − FP·FN", f"{tp}·{tn} − {fp}·{fn}"),
            ("√((TP+FP)(TP+FN)(TN+FP)(TN+FN))", f"√({tp + fp}·{tp + fn}·{tn + fp}·{tn + fn})"),
        ),
    )
    values = (found.accuracy, found.precision[1], found.recall[1], found.f1[1], found.matthews)
    titles = ("Accuracy", "Precision", "Recall", "F1", "Matthews")
    return tuple(
        TakenMetric(title.lower(), title, value, fraction)
        for title, value, fraction in zip(titles, values, fractions, strict=True)
    )


def _of_many(matrix: Matrix, found: Counted) -> tuple[TakenMetric, ...]:
    right = [matrix[place][place] for place in range(len(matrix))]
    accuracy = Fraction((_sum_of("c", len(matrix)), " + ".join(map(str, right))), ("s", f"{sum(map(sum, matrix))}"))
    return (
        TakenMetric("accuracy", "Accuracy", found.accuracy, accuracy),
        _mean("precision", "Precision, mean", "P", found.precision),
        _mean("recall", "Recall, mean", "R", found.recall),
        _mean("f1", "F1, mean", "F", found.f1),
        TakenMetric("matthews", "Matthews", found.matthews, _gorodkin(matrix)),
    )


def _mean(slug: str, title: str, letter: str, each: Sequence[float | None]) -> TakenMetric:
    """Average over the classes; one without a value counts as 0, scikit-learn's convention."""
    count, values = f"{len(each)}", _with_zeros(each)
    fraction = Fraction((_sum_of(letter, len(each)), " + ".join(map(decimals, values))), (count, count))
    return TakenMetric(slug, title, sum(values) / len(values), fraction)


def _with_zeros(values: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(value or 0.0 for value in values)


def _sum_of(letter: str, count: int) -> str:
    """Write the letter with the numbers of the classes, from 1."""
    low = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
    return " + ".join(f"{letter}{place}".translate(low) for place in range(1, count + 1))


def _gorodkin(matrix: Matrix) -> Fraction:
    """Write Gorodkin's fraction: c right of s examples; class k is true t times and predicted p times (Gorodkin 2004)."""
    true = [sum(row) for row in matrix]
    predicted = [sum(row[place] for row in matrix) for place in range(len(matrix))]
    right, total = sum(matrix[place][place] for place in range(len(matrix))), sum(true)
    together, p_squares, t_squares = (
        sum(a * b for a, b in zip(first, second, strict=True))
        for first, second in ((predicted, true), (predicted, predicted), (true, true))
    )
    square = total * total
    return Fraction(
        ("c·s − Σ pₖ·tₖ", f"{right}·{total} − {together}"),
        ("√((s² − Σ pₖ²)·(s² − Σ tₖ²))", f"√(({square} − {p_squares})·({square} − {t_squares}))"),
    )


def _products(points: Points, *letters: str) -> Fraction:
    """Write Pearson's fraction; two letters stand for the two numbers of a point."""
    apart = _apart(points)
    (x_square, both), (_, y_square) = apart.T @ apart  # (2, 2): sums of squares and of products
    x, y = (f"({letter} − {letter}\u0304)" for letter in letters)  # U+0304 draws a line over the letter before it
    return Fraction(
        (f"Σ {x}·{y}", _plain(both)), (f"√(Σ {x}² · Σ {y}²)", f"√({_plain(x_square)} · {_plain(y_square)})")
    )


def _cloud(points: Points) -> Cloud:
    apart = _apart(points)
    square = float(apart[:, 0] @ apart[:, 0])
    if len({x for x, _ in points}) < 2 or not square:  # equal x have no slope, and squares may underflow
        return Cloud(points, None)
    slope = float(apart[:, 0] @ apart[:, 1]) / square
    x, y = (sum(values) / len(values) for values in zip(*points, strict=True))
    return Cloud(points, (slope, y - slope * x))


def _without(points: Points, pearson: float | None) -> Without | None:
    """Find the point without which Pearson differs most.

    Of n points at (a, b) from their means, the sums of products without one are smaller by n / (n − 1) times its own.
    """
    import numpy as np

    if pearson is None or len(points) < 3:
        return None
    apart = _apart(points)
    a, b = apart.T
    (x_square, both), (_, y_square) = apart.T @ apart  # (2, 2), from all points
    more = len(points) / (len(points) - 1)
    xs, ys = x_square - more * a * a, y_square - more * b * b
    spread = (xs > ROUNDING * x_square) & (ys > ROUNDING * y_square)
    pearsons = (both - more * a * b) / np.sqrt(np.where(spread, xs * ys, 1.0))
    place = int(np.argmax(np.where(spread, abs(pearsons - pearson), -1.0)))  # -1: below any distance
    true, predicted = zip(*points[:place], *points[place + 1 :], strict=True)
    # Once more from the points: differences of large sums lose digits.
    rest = METRICS["pearson"].compute(true, predicted)
    return None if rest is None else Without(points[place], rest, METRICS["spearman"].compute(true, predicted))


def _apart(points: Points) -> Any:
    """Return each point's distance from the means of both numbers, [points, 2]."""
    import numpy as np

    values = np.array(points)
    return values - values.mean(axis=0)


def _plain(value: float) -> str:
    return decimals(value, 2) if abs(value) < LARGEST_PLAIN else f"{value:.4g}".replace("-", "−")
