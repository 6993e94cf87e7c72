"""Pearson and Spearman correlation of a few points, in plain Python: a page recomputes them while a point is moved."""

from __future__ import annotations

import math
from collections.abc import Sequence

Points = Sequence[tuple[float, float]]


def pearson(points: Points) -> float | None:
    """sum (x - x̄)(y - ȳ) / sqrt(sum (x - x̄)² · sum (y - ȳ)²), in [-1, 1].

    None with fewer than two points, where all x or all y are equal (a line without spread has no direction), and where
    a number is not finite.
    """
    first, second = [x for x, _ in points], [y for _, y in points]
    if not _varies(first) or not _varies(second):
        return None
    x_part, y_part = _centred(first), _centred(second)
    length = math.hypot(*x_part) * math.hypot(*y_part)
    if not length:  # so close together that rounding makes them equal
        return None
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(x_part, y_part, strict=True)) / length))


def spearman(points: Points) -> float | None:
    """Pearson's correlation of the ranks, equal values sharing the mean of theirs; None where pearson is."""
    first, second = [x for x, _ in points], [y for _, y in points]
    if not _varies(first) or not _varies(second):
        return None
    return pearson(list(zip(ranks(first), ranks(second), strict=True)))


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value in rising order, from 1; equal values share the mean of their places."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            result[place] = (start + 1 + end) / 2
        start = end
    return result


def _varies(values: Sequence[float]) -> bool:
    return all(map(math.isfinite, values)) and any(value != values[0] for value in values)


def _centred(values: Sequence[float]) -> list[float]:
    """Deviations from the mean, of which the largest is 1: no square of them overflows or vanishes."""
    middle = math.fsum(value / len(values) for value in values)
    apart = [value - middle for value in values]
    largest = max(map(abs, apart))
    return [value / largest for value in apart] if largest else apart
