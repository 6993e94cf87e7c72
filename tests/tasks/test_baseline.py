"""Counting words: what it learns, against the formulas by hand, and where it cannot be had."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from explorer.tasks.baseline import baseline
from explorer.tasks.task import WRITTEN, Example, Task, TaskData
from tests.tuning.small import BOTH, CATS, WEIGHT, data


def features(texts: list[str], held_out: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """TF-IDF by its formula: count x (ln((1 + n) / (1 + df)) + 1), each row of length 1."""

    def grams(text: str) -> list[str]:
        words = "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
        return [*words, *(" ".join(pair) for pair in pairwise(words))]

    documents = [Counter(grams(text)) for text in texts]
    known = sorted({gram for counts in documents for gram in counts})
    rarity = [math.log((1 + len(texts)) / (1 + sum(gram in counts for counts in documents))) + 1 for gram in known]

    def matrix(counted: list[Counter[str]]) -> np.ndarray:
        rows = np.array([[counts[gram] for gram in known] for counts in counted]) * np.array(rarity)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)

    return matrix(documents), matrix([Counter(grams(text)) for text in held_out])


def texts_of(examples: tuple[Example, ...]) -> list[str]:
    return [one.text if one.second is None else f"{one.text} {one.second}" for one in examples]


@pytest.mark.parametrize("task", [CATS, BOTH], ids=lambda task: task.slug)
def test_classes_are_what_a_logistic_regression_by_hand_says(task: Task) -> None:
    given = data(task, train=40)
    held_out = given.validation["validation"]
    read, asked = features(texts_of(given.train), texts_of(held_out))
    signs = np.array([2 * one.label - 1 for one in given.train])

    def loss(weights: np.ndarray) -> float:
        return float(
            np.logaddexp(0, -signs * (read @ weights[:-1] + weights[-1])).sum() + weights[:-1] @ weights[:-1] / 2
        )

    weights = minimize(loss, np.zeros(read.shape[1] + 1), method="L-BFGS-B").x
    expected = (asked @ weights[:-1] + weights[-1] > 0).astype(float)
    found = baseline(given, 0, 1000)
    assert found is not None
    assert list(found.answers) == list(expected)
    assert found.metrics["accuracy"] == pytest.approx(
        np.mean([a == b for a, b in zip(found.answers, found.labels, strict=True)])
    )
    assert (found.features, found.parameters) == (read.shape[1], read.shape[1] + 1)


def test_scores_are_what_a_ridge_regression_by_hand_says() -> None:
    given = data(WEIGHT, train=40)
    read, asked = features(texts_of(given.train), texts_of(given.validation["validation"]))
    labels = np.array([one.label for one in given.train])
    middle = read.mean(0)
    centred = read - middle
    weights = np.linalg.solve(centred.T @ centred + np.eye(read.shape[1]), centred.T @ (labels - labels.mean()))
    expected = labels.mean() + (asked - middle) @ weights
    found = baseline(given, 0, 1000)
    assert found is not None
    assert found.title == "TF-IDF + ridge regression"
    assert list(found.answers) == pytest.approx(list(expected), rel=1e-4)
    assert set(found.metrics) == set(WEIGHT.metrics)


def test_it_learns_from_as_many_and_is_measured_on_as_many_as_a_run() -> None:
    given = data(train=48, held_out=24)
    few = baseline(given, 10, 7)
    assert few is not None
    assert len(few.answers) == 7
    assert few.labels == tuple(one.label for one in given.validation["validation"][:7])
    only = baseline(replace(given, train=given.train[:10]), 0, 7)
    assert only is not None
    assert few.answers == only.answers


@pytest.mark.parametrize(
    "broken",
    [
        replace(data(), task=replace(CATS, kind=WRITTEN)),
        replace(data(), train=tuple(Example("😀 !", None, float(place % 2)) for place in range(8))),
        replace(data(), train=tuple(Example("a cat", None, 1.0) for _ in range(8))),
    ],
    ids=["no classes", "no words", "one class"],
)
def test_where_it_cannot_be_had_there_is_none(broken: TaskData) -> None:
    assert baseline(broken, 0, 1000) is None
