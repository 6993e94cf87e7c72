"""Metrics by the libraries against formulas by hand, and where they are undefined."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Iterator

import pytest
from sklearn import metrics as sk

from explorer.tasks.glue_tasks import find_task
from explorer.tasks.metrics import METRICS, counted, scores


@pytest.fixture(autouse=True)
def _no_warning_leaks() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def drawn(seed: int, classes: int = 2, count: int = 60) -> tuple[list[float], list[float]]:
    chance = random.Random(seed)
    return [float(chance.randrange(classes)) for _ in range(count)], [
        float(chance.randrange(classes)) for _ in range(count)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_two_classes_against_the_four_counts(seed: int) -> None:
    labels, guesses = drawn(seed)
    pairs = list(zip(labels, guesses, strict=True))
    tp, tn, fp, fn = (pairs.count(pair) for pair in ((1, 1), (0, 0), (0, 1), (1, 0)))
    assert METRICS["accuracy"].compute(labels, guesses) == pytest.approx((tp + tn) / 60)
    precision, recall = tp / (tp + fp), tp / (tp + fn)
    assert METRICS["f1"].compute(labels, guesses) == pytest.approx(2 * precision * recall / (precision + recall))
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert METRICS["matthews"].compute(labels, guesses) == pytest.approx((tp * tn - fp * fn) / below)


def test_f1_looks_at_class_1_alone() -> None:
    assert METRICS["f1"].compute([1, 0, 0, 0], [1, 1, 0, 0]) == pytest.approx(2 / 3)
    assert METRICS["f1"].compute([0, 1, 1, 1], [0, 0, 1, 1]) == pytest.approx(0.8)


def test_correlations_of_a_bent_line() -> None:
    points = [0.0, 1.0, 2.0, 3.0, 4.0]
    assert METRICS["spearman"].compute(points, [value**3 for value in points]) == pytest.approx(1)
    assert METRICS["pearson"].compute(points, [value**3 for value in points]) == pytest.approx(154 / 170)
    assert METRICS["pearson"].compute(points, [-2 * value + 1 for value in points]) == pytest.approx(-1)


@pytest.mark.parametrize("name", METRICS)
def test_the_range_is_reached_and_kept(name: str) -> None:
    metric = METRICS[name]
    labels = [0.0, 1.0, 0.0, 1.0]
    assert metric.compute(labels, labels) == pytest.approx(metric.high)
    assert metric.compute(labels, [1 - label for label in labels]) == pytest.approx(metric.low)


@pytest.mark.parametrize(
    ("name", "labels", "guesses"),
    [
        ("accuracy", [], []),
        ("f1", [], []),
        ("f1", [0, 0, 0], [0, 0, 0]),
        ("matthews", [], []),
        ("matthews", [0, 1, 0], [1, 1, 1]),
        ("matthews", [1, 1, 1], [0, 1, 0]),
        ("matthews", [1, 1], [1, 1]),
        ("pearson", [], []),
        ("pearson", [1.0], [1.0]),
        ("pearson", [0.1, 0.1, 0.1], [1.0, 2.0, 3.0]),
        ("pearson", [1.0, 2.0, 3.0], [0.1, 0.1, 0.1]),
        ("pearson", [1.0, 2.0, 3.0], [1.0, math.nan, 2.0]),
        ("spearman", [1.0, 2.0, 3.0], [2.5, 2.5, 2.5]),
        ("spearman", [1.0, 2.0, 3.0], [1.0, math.inf, 2.0]),
    ],
)
def test_undefined_is_none_and_says_nothing(name: str, labels: list[float], guesses: list[float]) -> None:
    assert METRICS[name].compute(labels, guesses) is None


@pytest.mark.parametrize("guesses", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_f1_of_constant_guesses_is_defined(guesses: list[float]) -> None:
    assert METRICS["f1"].compute([1, 0, 1, 0], guesses) == pytest.approx(2 / 3 if guesses[0] else 0)


def test_all_but_constant_predictions_do_not_warn() -> None:
    found = METRICS["pearson"].compute([1.0, 2.0, 3.0], [1.0, 1.0 + 2e-16, 1.0 + 4e-16])
    assert found is None or -1 <= found <= 1


@pytest.mark.parametrize("name", METRICS)
def test_lengths_that_differ_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="3 labels and 2 predictions"):
        METRICS[name].compute([0, 1, 0], [0, 1])


def test_scores_come_in_the_tasks_order() -> None:
    assert list(scores(find_task("mrpc"), [0, 1], [0, 1]).items()) == [("accuracy", 1.0), ("f1", 1.0)]
    assert list(scores(find_task("stsb"), [0, 1, 5], [0, 1, 5])) == ["pearson", "spearman"]
    assert scores(find_task("cola"), [0, 1], [1, 1]) == {"matthews": None}


def examples_of(matrix: list[list[int]]) -> tuple[list[int], list[int]]:
    """The labels and predictions that a matrix counts."""
    cells = [(i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) for _ in range(count)]
    return [true for true, _ in cells], [guess for _, guess in cells]


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_a_matrix_has_the_metrics_of_the_examples_that_it_counts(seed: int, classes: int) -> None:
    chance = random.Random(seed)
    matrix = [[chance.randrange(1, 20) for _ in range(classes)] for _ in range(classes)]
    labels, guesses = examples_of(matrix)
    found = counted(matrix)
    assert sk.confusion_matrix(labels, guesses).tolist() == matrix
    assert found.accuracy == pytest.approx(sk.accuracy_score(labels, guesses))
    assert found.matthews == pytest.approx(sk.matthews_corrcoef(labels, guesses))
    assert found.precision == pytest.approx(sk.precision_score(labels, guesses, average=None))
    assert found.recall == pytest.approx(sk.recall_score(labels, guesses, average=None))
    assert found.f1 == pytest.approx(sk.f1_score(labels, guesses, average=None))


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("precision", [[5, 0], [3, 0]]),
        ("recall", [[5, 2], [0, 0]]),
        ("f1", [[5, 0], [0, 0]]),
        ("matthews", [[5, 0], [3, 0]]),
        ("matthews", [[5, 2], [0, 0]]),
    ],
)
def test_what_divides_by_zero_in_a_matrix_is_none(name: str, matrix: list[list[int]]) -> None:
    found = getattr(counted(matrix), name)
    assert (found if name == "matthews" else found[1]) is None


def test_a_rare_class_that_is_never_found_shows_in_f1_and_matthews_alone() -> None:
    found = counted([[94, 1], [5, 0]])
    assert found.accuracy == pytest.approx(0.94)
    assert found.f1[1] == 0
    assert found.matthews is not None
    assert found.matthews < 0


def test_the_largest_counts_do_not_overflow() -> None:
    assert counted([[10**9, 0], [0, 10**9]]).matthews == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_the_scale_does_not_matter_to_a_correlation(name: str, scale: float) -> None:
    chance = random.Random(1)
    first, second = ([chance.uniform(0, 5) for _ in range(20)] for _ in range(2))
    compute = METRICS[name].compute
    moved = compute([value * scale for value in first], [value * scale for value in second])
    assert moved == pytest.approx(compute(first, second))


def test_one_outlier_moves_pearson_far_more_than_spearman() -> None:
    line = [float(x) for x in range(10)]
    pearson, spearman = (METRICS[name].compute([*line, 10.0], [*line, -40.0]) for name in ("pearson", "spearman"))
    assert pearson is not None
    assert spearman is not None
    assert pearson < 0 < spearman
