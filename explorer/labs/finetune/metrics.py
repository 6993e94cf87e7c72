"""Metrics, taken apart: a confusion matrix and points of true against predicted score, to change."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Any, TypeGuard

from explorer.action import Action
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import Number, Read
from explorer.params import params
from explorer.plain import WITHOUT_MODEL, plain_script
from explorer.tables import Table

MOST_CLASSES = 20
MOST_POINTS = 1000
LARGEST_COUNT = 10**9
LARGEST_SCORE = 1e9

CLASS_NAMES = {2: ("negative", "positive"), 3: ("entailment", "neutral", "contradiction")}
"""What the page calls the classes of the two sizes that it offers; the second of two is the positive one."""

Matrix = tuple[tuple[int, ...], ...]
Points = tuple[tuple[float, float], ...]


def _matrix(given: object) -> Matrix:
    if not _is_row(given) or not all(_is_row(row) for row in given):
        raise BadInputError("Give the confusion matrix as a list of rows, such as [[40, 10], [5, 45]].")
    if len(given) > MOST_CLASSES:
        raise BadInputError(f"At most {MOST_CLASSES} classes; this matrix has {len(given)}.")
    if len(given) < 2 or any(len(row) != len(given) for row in given):
        raise BadInputError("A confusion matrix has as many columns as rows, one for each class, and at least two.")
    matrix = tuple(tuple(map(read_count, row)) for row in given)
    if not any(map(any, matrix)):
        raise BadInputError("Every cell is 0: without examples there is nothing to measure. Give one of them a count.")
    return matrix


def _points(given: object) -> Points:
    if not _is_row(given) or not all(_is_row(row) and len(row) == 2 for row in given):
        raise BadInputError("Give the points as a list of pairs, such as [[0.5, 1.0], [4.0, 3.5]].")
    if not 2 <= len(given) <= MOST_POINTS:
        raise BadInputError(f"A correlation takes 2 to {MOST_POINTS:,} points; got {len(given):,}.")
    return tuple((read_score(true), read_score(predicted)) for true, predicted in given)


def _is_row(row: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(row, Sequence) and not isinstance(row, str)


def read_count(cell: object) -> int:
    """Read a cell of the matrix. Raises BadInputError."""
    try:
        number = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= LARGEST_COUNT or number != int(number):  # nan is not in the range
        raise BadInputError(f"Each cell counts examples: a whole number from 0 to {LARGEST_COUNT:,}; got {cell!r}.")
    return int(number)


def read_score(cell: object) -> float:
    """Read one of the two numbers of a point. Raises BadInputError."""
    said = f"A score is a number of at most {LARGEST_SCORE:,.0f} in size; got {{value}}."
    number: float = Number(-LARGEST_SCORE, LARGEST_SCORE, said=said).read(cell, "score")
    return number


@params
class ConfusionParams:
    """matrix[i][j] counts the examples of class i that were predicted as class j; of two classes the second is positive."""

    matrix: Annotated[Matrix, Read(_matrix)]


@params
class PointsParams:
    """Pairs of true and predicted score, in any unit."""

    points: Annotated[Points, Read(_points)]


@dataclass(frozen=True)
class Fraction:
    """A formula twice: with its symbols, and with the numbers put in. A part that begins with √ is a root."""

    top: tuple[str, str]
    bottom: tuple[str, str]


def decimals(value: float, places: int = 3) -> str:
    """Round half away from zero, as in a textbook, with a true minus; never "−0.000"."""
    rounded = Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{rounded + 0:f}".replace("-", "−")  # + 0 takes the sign from a zero


@dataclass(frozen=True)
class TakenMetric:
    """One metric, in the range that its formula gives; value is None if it divides by zero."""

    slug: str
    title: str
    value: float | None
    fraction: Fraction


@dataclass(frozen=True)
class TakenApart:
    """All metrics of one matrix. f1: of each class against all others; 0 if it is undefined."""

    metrics: tuple[TakenMetric, ...]
    matrix: Matrix
    f1: tuple[float, ...]


@dataclass(frozen=True)
class Cloud:
    """Points and the line of least squares through them: its slope, and its height at 0; None if all x are equal."""

    points: Points
    line: tuple[float, float] | None


@dataclass(frozen=True)
class Without:
    """Both correlations without one point: the one whose absence changes Pearson most."""

    point: tuple[float, float]
    pearson: float
    spearman: float | None


@dataclass(frozen=True)
class Correlated:
    """Both correlations. without: None if no point can be spared."""

    metrics: tuple[TakenMetric, ...]
    scores: Cloud
    ranks: Cloud
    without: Without | None


MATRICES: dict[str, Matrix] = {
    "A good classifier": ((40, 10), (5, 45)),
    "Always the majority": ((90, 0), (10, 0)),
    "Half of a rare class": ((88, 2), (5, 5)),
    "A coin": ((45, 45), (5, 5)),
    "Three classes": ((85, 12, 3), (14, 74, 12), (4, 13, 83)),
}
"""Balanced classes once, then nine negatives for each positive; a classifier like those of MNLI, weakest on the middle class."""

_TRUE = tuple(round(0.2 + 0.25 * place, 2) for place in range(20))


def _scattered(seed: int, predict: Callable[[random.Random, float], float], true: Sequence[float] = _TRUE) -> Points:
    """Return what `predict` makes of each true score, kept on the scale and rounded."""
    chance = random.Random(seed)
    return tuple((score, round(min(5.0, max(0.0, predict(chance, score))), 2)) for score in true)


_CROWD = tuple(round(0.6 + 0.06 * place, 2) for place in range(19))

SCATTERS: dict[str, Points] = {
    "A noisy line": _scattered(3, lambda chance, score: score + chance.gauss(0, 0.6)),
    "One outlier": (*_scattered(2, lambda chance, score: chance.uniform(0.5, 1.8), _CROWD), (4.8, 4.7)),
    "Right order, but a curve": _scattered(0, lambda chance, score: 4.7 * (score / 5) ** 5 + 0.06 * score),
    "No relation": _scattered(10, lambda chance, score: chance.uniform(0.3, 4.7)),
}
"""Twenty pairs each, on STS-B's scale from 0 to 5."""

REASONS = {
    "cola": "70% of the training sentences are acceptable, so always saying yes is right for 70%. Matthews gives that no "
    "credit: it is 0 for every guess that does not look at the sentence.",
    "sst2": "Positive and negative are about equally frequent, so accuracy hides nothing.",
    "mrpc": "67% of the training pairs are paraphrases. Accuracy alone flatters a model that says yes too often; F1 falls "
    "with every pair that is wrongly called a paraphrase or missed.",
    "qqp": "63% of the pairs are no duplicates. F1 looks at the rarer class: are the duplicates found?",
    "stsb": "The label is a score from 0 to 5, not a class. Pearson asks whether the predictions rise with it along a "
    "line, Spearman whether they put the pairs in the right order.",
    "mnli": "Three classes of about equal size. Measured twice: on the genres of the training set (matched) and on others "
    "(mismatched).",
    "qnli": "Two classes of equal size.",
    "rte": "Two classes of about equal size.",
    "wnli": "About equally frequent in training; in the test set 65% are not entailed, and few systems of its time did "
    "better than always saying so.",
}
"""Why each task is judged as it is; the shares are those of GLUE's paper and of the files it distributes."""


UNDEFINED = "undefined, by convention 0"


def taken_table(result: TakenApart | Correlated) -> Table:
    """metric, value (empty if it divides by zero), formula."""
    return Table.each(result.metrics, metric="slug", value="value", formula=lambda metric: linear(metric))


def linear(metric: TakenMetric) -> str:
    """Write the formula on one line: symbols, then numbers, then the value."""
    top, bottom = metric.fraction.top, metric.fraction.bottom
    steps = [f"{_bracketed(top[place])} / {_bracketed(bottom[place])}" for place in (0, 1)]
    return " = ".join([*steps, written(metric.value)])


def _bracketed(part: str) -> str:
    return f"({part})" if " " in part and not part.startswith("√") else part


def written(value: float | None) -> str:
    """Write a value with three decimals."""
    return "undefined" if value is None else decimals(value)


_JOBS = "explorer.labs.finetune.metrics_jobs"

TAKE_APART = Action(
    Job(f"{_JOBS}:take_metrics_apart", on="nothing", light=True),
    ConfusionParams,
    taken_table,
    plain=plain_script("take_metrics_apart", needs="scikit-learn", header=WITHOUT_MODEL),
)
CORRELATE = Action(
    Job(f"{_JOBS}:correlate", on="nothing", light=True),
    PointsParams,
    taken_table,
    plain=plain_script("correlate", needs="scipy", header=WITHOUT_MODEL),
)
