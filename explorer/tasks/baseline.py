"""A baseline that counts words: TF-IDF with a linear model, on the examples that a run learns from.

Words and pairs of neighbours are weighted by how rare they are (Spärck Jones 1972), and a linear model reads the
weights: logistic regression for classes, ridge regression for scores. Nothing in it is pretrained, so what BERT reaches
beyond it is what pretraining adds.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from explorer.tasks.metrics import scores
from explorer.tasks.task import CLASSES, Example, Task, TaskData

WORDS = r"(?u)\b\w+\b"
NEIGHBOURS = (1, 2)
"""The n-grams that are counted: single words and pairs of neighbours."""


@dataclass(frozen=True)
class Baseline:
    """The baseline's result. answers: for every held-out row, class numbers or scores, beside their labels.

    features: different words and pairs of the training texts. parameters: numbers that are learned from them. seconds:
    of learning and answering.
    """

    title: str
    metrics: dict[str, float | None]
    labels: tuple[float, ...]
    answers: tuple[float, ...]
    features: int
    parameters: int
    seconds: float


def baseline(data: TaskData, examples: int, held_out: int) -> Baseline | None:
    """Train on the first `examples` (0 for all), and measure on the first `held_out` rows of the leading split.

    Returns None if there is no baseline: for a task without classes or scores, texts without words, labels of one
    class.
    """
    task, train = data.task, data.train[: examples or None]
    rows = next(iter(data.validation.values()))[:held_out]
    if task.kind != CLASSES or not rows or (task.labels and len({example.label for example in train}) < 2):
        return None
    labels = tuple(example.label for example in rows)
    fitted = _fitted(task, train, rows)
    model = "ridge regression" if task.is_regression else "logistic regression"
    return fitted and Baseline(f"TF-IDF + {model}", scores(task, labels, fitted[0]), labels, *fitted)


def _fitted(
    task: Task, train: Sequence[Example], rows: Sequence[Example]
) -> tuple[tuple[float, ...], int, int, float] | None:
    """Return answers, features, parameters and seconds, with scikit-learn's own settings throughout; None if no text
    has a word.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression, Ridge

    began = time.perf_counter()
    vectors = TfidfVectorizer(ngram_range=NEIGHBOURS, token_pattern=WORDS)
    try:
        read = vectors.fit_transform([_text(example) for example in train])
    except ValueError:  # "empty vocabulary"
        return None
    # 1000: scikit-learn's 100 iterations may end before the fit has converged.
    model = Ridge() if task.is_regression else LogisticRegression(max_iter=1000)
    model.fit(read, [example.label for example in train])
    said = model.predict(vectors.transform([_text(example) for example in rows]))
    # Ridge regression's intercept is a plain number.
    learned = int(model.coef_.size) + (1 if task.is_regression else int(model.intercept_.size))
    return tuple(float(value) for value in said), int(read.shape[1]), learned, time.perf_counter() - began


def _text(example: Example) -> str:
    """Join both texts of a pair, which counts of words cannot tell apart anyway."""
    return example.text if example.second is None else f"{example.text} {example.second}"
