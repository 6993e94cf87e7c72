"""Take metrics apart: each one's value, and its formula with the numbers put in. No model, no numpy: quick sums.

assets/confusion.js and assets/correlation.js compute the same while a visitor types or drags; tests hold them together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from explorer.labs.finetune.metrics_schema import (
    ConfusionParams,
    Fraction,
    Matrix,
    Points,
    PointsParams,
    TakenApart,
    TakenMetric,
)
from explorer.tasks import confusion, correlation

LARGEST_PLAIN = 1e6
"""Sums from here on are written with a power of ten."""


def take_metrics_apart(params: ConfusionParams) -> TakenApart:
    """Accuracy, precision, recall, F1 and Matthews; of more than two classes the unweighted means of the middle three."""
    return TakenApart(_of_two(params.matrix) if len(params.matrix) == 2 else _of_many(params.matrix))


def correlate(params: PointsParams) -> TakenApart:
    """Pearson of the scores x and y, and Spearman: Pearson of their ranks p and q."""
    points = params.points
    true, predicted = ([point[place] for point in points] for place in (0, 1))
    ranked = tuple(zip(correlation.ranks(true), correlation.ranks(predicted), strict=True))
    return TakenApart(
        (
            TakenMetric("pearson", "Pearson", correlation.pearson(points), _products(points, "x", "y")),
            TakenMetric("spearman", "Spearman", correlation.spearman(points), _products(ranked, "p", "q")),
        )
    )


def follow_metrics(engine: Any, params: ConfusionParams, owner: str) -> Iterator[TakenApart]:
    """take_metrics_apart as an action that needs neither a model nor a run."""
    yield take_metrics_apart(params)


def follow_correlation(engine: Any, params: PointsParams, owner: str) -> Iterator[TakenApart]:
    """correlate as an action that needs neither a model nor a run."""
    yield correlate(params)


def _of_two(matrix: Matrix) -> tuple[TakenMetric, ...]:
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
    values = (
        confusion.accuracy(matrix),
        confusion.precision(matrix),
        confusion.recall(matrix),
        confusion.f1(matrix),
        confusion.matthews(matrix),
    )
    titles = ("Accuracy", "Precision", "Recall", "F1", "Matthews")
    return tuple(
        TakenMetric(title.lower(), title, value, fraction)
        for title, value, fraction in zip(titles, values, fractions, strict=True)
    )


def _of_many(matrix: Matrix) -> tuple[TakenMetric, ...]:
    classes = range(len(matrix))
    right = [matrix[place][place] for place in classes]
    total = sum(map(sum, matrix))
    symbols = " + ".join(f"c{_low(place)}" for place in classes)
    accuracy = Fraction((symbols, " + ".join(map(str, right))), ("s", f"{total}"))
    return (
        TakenMetric("accuracy", "Accuracy", confusion.accuracy(matrix), accuracy),
        _macro("precision", "Precision, mean", "P", matrix, confusion.precision),
        _macro("recall", "Recall, mean", "R", matrix, confusion.recall),
        _macro("f1", "F1, mean", "F", matrix, confusion.f1),
        TakenMetric("matthews", "Matthews", confusion.matthews(matrix), _gorodkin(matrix)),
    )


def _macro(
    slug: str, title: str, letter: str, matrix: Matrix, metric: Callable[[Matrix, int], float | None]
) -> TakenMetric:
    """The mean over the classes; a class without a value counts as 0, scikit-learn's convention."""
    count = len(matrix)
    values = [metric(matrix, place) or 0.0 for place in range(count)]
    symbols = " + ".join(f"{letter}{_low(place)}" for place in range(count))
    fraction = Fraction((symbols, " + ".join(map(decimals, values))), (f"{count}", f"{count}"))
    return TakenMetric(slug, title, sum(values) / count, fraction)


def _gorodkin(matrix: Matrix) -> Fraction:
    """c right of s examples; class k is true t times and predicted p times (Gorodkin 2004)."""
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
    """Pearson's fraction; two letters stand for the two numbers of a point."""
    xs, ys = ([point[place] for point in points] for place in (0, 1))
    x_apart, y_apart = _deviations(xs), _deviations(ys)
    both, x_square, y_square = (
        math.fsum(a * b for a, b in zip(left, right, strict=True))
        for left, right in ((x_apart, y_apart), (x_apart, x_apart), (y_apart, y_apart))
    )
    x, y = (f"({letter} − {letter}\u0304)" for letter in letters)
    return Fraction(
        (f"Σ {x}·{y}", _plain(both)),
        (f"√(Σ {x}² · Σ {y}²)", f"√({_plain(x_square)} · {_plain(y_square)})"),
    )


def _deviations(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    return [value - mean for value in values]


def _low(place: int) -> str:
    """A class as a subscript, counted from 1."""
    return str(place + 1).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def decimals(value: float, places: int = 3) -> str:
    """Rounded half away from zero, as JavaScript's toFixed does, with a true minus; never "−0.000"."""
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{rounded + 0:f}".replace("-", "−")


def _plain(value: float) -> str:
    return decimals(value, 2) if abs(value) < LARGEST_PLAIN else f"{value:.4g}".replace("-", "−")


def linear(metric: TakenMetric) -> str:
    """The formula on one line: symbols, then numbers, then the value."""
    top, bottom = metric.fraction.top, metric.fraction.bottom
    steps = [f"{_bracketed(top[place])} / {_bracketed(bottom[place])}" for place in (0, 1)]
    return " = ".join([*steps, "undefined" if metric.value is None else decimals(metric.value)])


def _bracketed(part: str) -> str:
    return f"({part})" if " " in part and not part.startswith("√") else part
