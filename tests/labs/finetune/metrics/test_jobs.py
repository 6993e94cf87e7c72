"""The metrics of a matrix and of points against scikit-learn and scipy, and their formulas with the numbers put in."""

from __future__ import annotations

import math
import random
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.stats import linregress, pearsonr, rankdata, spearmanr
from sklearn import metrics as sk

from explorer.labs.finetune.metrics import MATRICES, SCATTERS, Points, PointsParams, TakenMetric, linear
from explorer.labs.finetune.metrics_jobs import correlate
from tests.labs.finetune.metrics.taking import taken, values
from tests.rows import each_row

NAMES = ("accuracy", "precision", "recall", "f1", "matthews")


def drawn(seed: int, classes: int, largest: int = 40) -> tuple[tuple[int, ...], ...]:
    chance = random.Random(seed)
    return tuple(tuple(chance.randrange(0, largest) for _ in range(classes)) for _ in range(classes))


def by_sklearn(matrix: tuple[tuple[int, ...], ...]) -> dict[str, float]:
    """The metrics of the examples that a matrix counts, each example written out."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    true, guessed = zip(*cells, strict=True)
    each: dict[str, Any] = {"zero_division": 0}
    each |= {"average": "binary"} if len(matrix) == 2 else {"average": "macro", "labels": range(len(matrix))}
    return {
        "accuracy": sk.accuracy_score(true, guessed),
        "precision": sk.precision_score(true, guessed, **each),
        "recall": sk.recall_score(true, guessed, **each),
        "f1": sk.f1_score(true, guessed, **each),
        "matthews": sk.matthews_corrcoef(true, guessed),
    }


MATRIX_CASES = [
    *MATRICES.values(),
    ((5, 0), (0, 0)),
    ((0, 7), (0, 3)),
    ((3, 0, 1), (2, 0, 4), (0, 0, 9)),
    *[drawn(seed, classes) for seed in range(4) for classes in (2, 3, 5)],
]


@each_row("matrix", MATRIX_CASES, ids=str)
def test_metrics_are_those_of_scikit_learn(matrix: Any) -> None:
    found = values(taken(matrix))
    assert tuple(found) == NAMES
    assert {name: value or 0.0 for name, value in found.items()} == pytest.approx(by_sklearn(matrix), abs=1e-12)


def put_in(part: str) -> float:
    """What a half of a fraction comes to, its numbers put in; √ is the only sign that Python writes otherwise."""
    return float(eval(re.sub(r"√\(", "math.sqrt(", part.replace("·", "*").replace("−", "-")), {"math": math}))


@each_row("matrix", MATRIX_CASES, ids=str)
def test_the_numbers_put_into_a_formula_give_its_value(matrix: Any) -> None:
    for metric in taken(matrix).metrics:
        check_fraction(metric, tolerance=6e-4)


def check_fraction(metric: TakenMetric, tolerance: float) -> None:
    top, bottom = put_in(metric.fraction.top[1]), put_in(metric.fraction.bottom[1])
    if metric.value is None:
        assert bottom == 0
    else:
        assert top / bottom == pytest.approx(metric.value, abs=tolerance)


def test_the_largest_counts_are_no_trouble() -> None:
    large = 10**9
    found = values(taken(((large, large - 1), (large - 2, large))))
    assert found == pytest.approx(
        {"accuracy": 0.5, "precision": 0.5, "recall": 0.5, "f1": 0.5, "matthews": 0.0}, abs=1e-8
    )


def test_each_class_has_its_f1() -> None:
    matrix = drawn(1, 5)
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    assert taken(matrix).f1 == pytest.approx(sk.f1_score(*zip(*cells, strict=True), average=None))


def claims(name: str) -> dict[str, float | None]:
    return values(taken(MATRICES[name]))


def test_a_majority_guesser_is_90_percent_right_and_has_no_f1_and_no_matthews() -> None:
    found = claims("Always the majority")
    assert found["accuracy"] == pytest.approx(0.9)
    assert found["f1"] == 0
    assert found["matthews"] is None
    assert found["precision"] is None


def test_the_other_experiments_show_what_they_are_called_after() -> None:
    good, rare, coin = (claims(name) for name in ("A good classifier", "Half of a rare class", "A coin"))
    assert all(value is not None and value > 0.7 for value in good.values())
    assert rare["recall"] == pytest.approx(0.5)
    assert (rare["accuracy"] or 0) > 0.9 > 0.6 > (rare["matthews"] or 0) > 0.4
    assert coin["matthews"] == 0
    assert coin["accuracy"] == pytest.approx(0.5)


def test_calling_the_other_class_positive_changes_f1_and_neither_accuracy_nor_matthews() -> None:
    (tn, fp), (fn, tp) = MATRICES["Half of a rare class"]
    one, other = values(taken(((tn, fp), (fn, tp)))), values(taken(((tp, fn), (fp, tn))))
    assert one["accuracy"] == other["accuracy"]
    assert one["matthews"] == pytest.approx(other["matthews"])
    assert abs((one["f1"] or 0) - (other["f1"] or 0)) > 0.3


def scattered(seed: int, count: int = 25) -> Points:
    chance = random.Random(seed)
    return tuple((float(chance.randrange(6)), chance.gauss(2, 1)) for _ in range(count))


POINT_CASES = [*SCATTERS.values(), *[scattered(seed) for seed in range(4)]]


@each_row("points", POINT_CASES, ids=range(len(POINT_CASES)))
def test_correlations_are_those_of_scipy_and_of_their_formulas(points: Points) -> None:
    result = correlate(PointsParams(points))
    true, predicted = np.array(points).T
    expected = {"pearson": pearsonr(true, predicted).statistic, "spearman": spearmanr(true, predicted).statistic}
    assert values(result) == pytest.approx(expected, abs=1e-12)
    for metric in result.metrics:
        check_fraction(metric, tolerance=2e-3)


def test_the_scatters_show_what_they_are_called_after() -> None:
    line, outlier, curve, none = (values(correlate(PointsParams(points))) for points in SCATTERS.values())
    assert min(line["pearson"] or 0, line["spearman"] or 0) > 0.85
    assert (outlier["pearson"] or 0) > 0.8
    assert abs(outlier["spearman"] or 0) < 0.2
    rest = values(correlate(PointsParams(SCATTERS["One outlier"][:-1])))
    assert abs(rest["pearson"] or 0) < 0.1, "without its outlier there is nothing"
    assert curve["spearman"] == pytest.approx(1)
    assert (curve["pearson"] or 0) < 0.9
    assert max(abs(none["pearson"] or 0), abs(none["spearman"] or 0)) < 0.1


def test_scores_without_spread_have_no_correlation() -> None:
    result = correlate(PointsParams([[1, 2], [3, 2], [5, 2]]))
    assert values(result) == {"pearson": None, "spearman": None}
    assert linear(result.metrics[0]).endswith("√(8.00 · 0.00) = undefined")


def test_huge_scores_are_answered() -> None:
    result = correlate(PointsParams([[1e9, -1e9], [-1e9, 1e9], [0, 5]]))
    assert result.metrics[0].value == pytest.approx(-1)
    check_fraction(result.metrics[0], tolerance=1e-2)


@each_row("points", POINT_CASES, ids=range(len(POINT_CASES)))
def test_lines_of_fit_and_ranks_are_those_of_scipy(points: Points) -> None:
    result = correlate(PointsParams(points))
    true, predicted = np.array(points).T
    assert result.ranks.points == tuple(zip(rankdata(true), rankdata(predicted), strict=True))
    for cloud in (result.scores, result.ranks):
        assert cloud.line == pytest.approx(linregress(*np.array(cloud.points).T)[:2])


@each_row("points", POINT_CASES, ids=range(len(POINT_CASES)))
def test_the_point_that_decides_is_found_by_leaving_each_one_out(points: Points) -> None:
    result = correlate(PointsParams(points))
    rest = [np.delete(np.array(points), place, axis=0).T for place in range(len(points))]
    changes = [abs(pearsonr(*one).statistic - values(result)["pearson"]) for one in rest]
    place = int(np.argmax(changes))
    assert result.without is not None
    assert result.without.point == points[place]
    assert result.without.pearson == pytest.approx(pearsonr(*rest[place]).statistic)
    assert result.without.spearman == pytest.approx(spearmanr(*rest[place]).statistic)


def test_a_point_that_alone_has_spread_cannot_be_spared() -> None:
    result = correlate(PointsParams([[0.1, 0.3], [0.1, 0.3], [0.1, 0.3], [4, 4]]))
    assert result.without is None or result.without.point == (0.1, 0.3)
    assert correlate(PointsParams([[0, 0], [1, 1]])).without is None


def test_scores_without_spread_have_no_line() -> None:
    assert correlate(PointsParams([[0.1, 1], [0.1, 2], [0.1, 3]])).scores.line is None


def test_nothing_heavy_is_imported_before_a_job_runs() -> None:
    code = "import sys; from explorer.labs.finetune import metrics_page, metrics_jobs;"
    code += "print(sorted({'torch', 'sklearn', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
