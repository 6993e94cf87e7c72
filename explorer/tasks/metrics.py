"""The metrics of GLUE's tasks, computed by scikit-learn and scipy; a new one is one entry in METRICS.

A metric is None if its formula divides by zero: a curve then has a gap, rather than a 0 that looks like a result.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from explorer.tasks.task import Task

Numbers = Sequence[float]

LOSS = "loss"
"""The name of what is measured beside a task's metrics: the training loss, on held-out rows."""


@dataclass(frozen=True)
class Metric:
    """One metric: its formula in LaTeX, its range, and compute(labels, predictions) for two sequences of one length.

    Labels and predictions are class numbers, or scores for a regression. compute raises ValueError if the lengths
    differ.
    """

    slug: str
    title: str
    formula: str
    low: float
    high: float
    compute: Callable[[Numbers, Numbers], float | None]


def scores(task: Task, labels: Numbers, predictions: Numbers) -> dict[str, float | None]:
    """Return the task's metrics by name, in its order."""
    return {name: METRICS[name].compute(labels, predictions) for name in task.metrics}


@dataclass(frozen=True)
class Counted:
    """The metrics of the examples that a confusion matrix counts; None if a formula divides by zero.

    precision, recall, f1: of each class against all others.
    """

    accuracy: float | None
    precision: tuple[float | None, ...]
    recall: tuple[float | None, ...]
    f1: tuple[float | None, ...]
    matthews: float | None


def counted(matrix: Sequence[Sequence[int]]) -> Counted:
    """Compute the metrics of a confusion matrix: matrix[i][j] counts the examples of class i that were predicted as
    class j, as in scikit-learn; not all are 0.
    """
    from sklearn.metrics import precision_recall_fscore_support

    # The counts become weights, so that a large one takes no longer than a small one.
    cells = [(true, guess, count) for true, row in enumerate(matrix) for guess, count in enumerate(row) if count]
    labels, guesses, counts = ([cell[place] for cell in cells] for place in range(3))
    classes = list(range(len(matrix)))
    each = precision_recall_fscore_support(
        labels, guesses, labels=classes, sample_weight=counts, zero_division=math.nan
    )
    precision, recall, f1 = (
        tuple(None if math.isnan(value) else float(value) for value in values) for values in each[:3]
    )
    return Counted(_accuracy(labels, guesses, counts), precision, recall, f1, _matthews(labels, guesses, counts))


def _accuracy(labels: Numbers, predictions: Numbers, counts: Numbers | None = None) -> float | None:
    """Return the accuracy, None without examples. counts: how many examples each pair stands for."""
    from sklearn.metrics import accuracy_score

    _same_length(labels, predictions)
    return float(accuracy_score(list(labels), list(predictions), sample_weight=counts)) if len(labels) else None


def _f1(labels: Numbers, predictions: Numbers) -> float | None:
    """Return F1 of class 1; None if that class neither occurs nor is predicted, since precision and recall are both 0/0."""
    from sklearn.metrics import f1_score

    _same_length(labels, predictions)
    if 1 not in set(labels) | set(predictions):
        return None
    return float(f1_score([label == 1 for label in labels], [guess == 1 for guess in predictions]))


def _matthews(labels: Numbers, predictions: Numbers, counts: Numbers | None = None) -> float | None:
    """Return Matthews' correlation; None if labels or predictions are all of one class. counts: as for accuracy."""
    from sklearn.metrics import matthews_corrcoef

    _same_length(labels, predictions)
    if len(set(labels)) < 2 or len(set(predictions)) < 2:  # scikit-learn would return 0
        return None
    return float(matthews_corrcoef(list(labels), list(predictions), sample_weight=counts))


def _pearson(labels: Numbers, predictions: Numbers) -> float | None:
    """Return Pearson's correlation; None if labels or predictions are all equal, or not finite (a run that has diverged)."""
    from scipy.stats import pearsonr

    return _correlation(pearsonr, labels, predictions)


def _spearman(labels: Numbers, predictions: Numbers) -> float | None:
    """Return Spearman's correlation; None as for Pearson's."""
    from scipy.stats import spearmanr

    return _correlation(spearmanr, labels, predictions)


def _correlation(function: Callable[..., object], labels: Numbers, predictions: Numbers) -> float | None:
    from scipy.stats import NearConstantInputWarning

    _same_length(labels, predictions)
    both = [[float(value) for value in labels], [float(value) for value in predictions]]
    if any(len(set(values)) < 2 or not all(map(math.isfinite, values)) for values in both):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NearConstantInputWarning)  # where a run has collapsed; its curve shows that
        found = float(function(*both).statistic)  # type: ignore[attr-defined]
    return found if math.isfinite(found) else None


def _same_length(labels: Numbers, predictions: Numbers) -> None:
    if len(labels) != len(predictions):
        raise ValueError(f"{len(labels)} labels and {len(predictions)} predictions")


METRICS = {
    metric.slug: metric
    for metric in (
        Metric("accuracy", "Accuracy", r"\frac{\mathrm{right}}{\mathrm{all}}", 0.0, 1.0, _accuracy),
        Metric("f1", "F1", r"\frac{2\,TP}{2\,TP + FP + FN}", 0.0, 1.0, _f1),
        Metric(
            "matthews",
            "Matthews correlation",
            r"\frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}",
            -1.0,
            1.0,
            _matthews,
        ),
        Metric(
            "pearson",
            "Pearson correlation",
            r"\frac{\sum_i (x_i-\bar x)(y_i-\bar y)}{\sqrt{\sum_i (x_i-\bar x)^2 \sum_i (y_i-\bar y)^2}}",
            -1.0,
            1.0,
            _pearson,
        ),
        Metric(
            "spearman",
            "Spearman correlation",
            r"r_{\mathrm{Pearson}}(\operatorname{rank} x, \operatorname{rank} y)",
            -1.0,
            1.0,
            _spearman,
        ),
    )
}
