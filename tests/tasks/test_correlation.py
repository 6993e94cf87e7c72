"""Correlations in plain Python against scipy."""

from __future__ import annotations

import math
import random

import pytest
from scipy import stats

from explorer.tasks.correlation import pearson, ranks, spearman

Points = list[tuple[float, float]]


def cloud(seed: int, count: int, ties: bool) -> Points:
    chance = random.Random(seed)
    points = [(chance.uniform(0, 5), chance.gauss(0, 2)) for _ in range(count)]
    return [(float(round(x)), float(round(y))) for x, y in points] if ties else points


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("count", [4, 7, 100])
@pytest.mark.parametrize("seed", range(3))
def test_against_scipy(seed: int, count: int, ties: bool) -> None:
    points = [*cloud(seed, count, ties), (0.0, 9.0), (5.0, -9.0)]
    assert pearson(points) == pytest.approx(stats.pearsonr(*zip(*points, strict=True)).statistic)
    assert spearman(points) == pytest.approx(stats.spearmanr(*zip(*points, strict=True)).statistic)
    values = [x for x, _ in points]
    assert ranks(values) == stats.rankdata(values).tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
def test_the_scale_does_not_matter(scale: float) -> None:
    points = cloud(1, 20, ties=False)
    moved = [(x * scale, y * scale) for x, y in points]
    assert pearson(moved) == pytest.approx(pearson(points))


def test_one_outlier_moves_pearson_far_more_than_spearman() -> None:
    line = [(float(x), float(x)) for x in range(10)]
    bent = [*line, (10.0, -40.0)]
    assert pearson(line) == spearman(line) == pytest.approx(1)
    after = pearson(bent), spearman(bent)
    assert None not in after
    assert after[0] < 0 < after[1]  # type: ignore[operator]


@pytest.mark.parametrize(
    "points",
    [
        [],
        [(1.0, 2.0)],
        [(0.1, 1.0), (0.1, 2.0), (0.1, 3.0)],
        [(1.0, 0.3), (2.0, 0.3)],
        [(1.0, math.nan), (2.0, 3.0)],
        [(math.inf, 1.0), (2.0, 3.0)],
    ],
)
def test_undefined_is_none(points: Points) -> None:
    assert pearson(points) is None
    assert spearman(points) is None
