"""Tests whether two models differ beyond chance on the same held-out rows, and corrects for many comparisons.

An accuracy is compared by McNemar's exact test, any other metric by a paired bootstrap: the rows are drawn again, with
replacement, and both models are measured on each draw (Efron and Tibshirani 1993, chapter 16).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

DRAWS = 9_999
"""Draws of the bootstrap: the least p it can give is 2 / (DRAWS + 1)."""

_CELLS = 2_000_000
"""Numbers held in memory at once while drawing."""

Statistic = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(labels (rows,), predictions (rows,), weights (draws, rows)) -> (draws,); nan where its formula divides by zero."""


def mcnemar(first: Tensor, second: Tensor) -> float:
    """Return the two-sided p of McNemar's exact test for two models' hits, (rows,) of booleans.

    Only rows that one of them alone has right count: under chance each of these is a coin's toss. Without any, p is 1.
    """
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    tosses, fewer = only_first + only_second, min(only_first, only_second)
    tail = sum(math.comb(tosses, heads) for heads in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**tosses))  # twice the tail counts the middle of an even split twice


def bootstrapped(statistic: Statistic, labels: Tensor, predictions: Sequence[Tensor], seed: int = 0) -> Tensor:
    """Return a statistic of several models, each on the same draws of the rows: (models, DRAWS)."""
    parts = [
        torch.stack([statistic(labels, predicted, weights) for predicted in predictions])
        for weights in _weights(len(labels), seed)
    ]
    return torch.cat(parts, -1)


def bootstrapped_means(totals: Sequence[Tensor], counts: Tensor, seed: int = 0) -> Tensor:
    """Return means over things of which a row holds several, such as words of sentences, with whole rows drawn again:
    (models, DRAWS).

    totals: of each model, the sum in every row, (rows,). counts: how many things each row holds, (rows,), not all 0.
    """
    parts = [
        torch.stack([weights @ total / (weights @ counts) for total in totals])
        for weights in _weights(len(counts), seed)
    ]
    return torch.cat(parts, -1)


def interval(draws: Tensor, share: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval of bootstrap draws, (draws,): the ends of their middle share."""
    ends = torch.tensor([(1 - share) / 2, (1 + share) / 2], dtype=draws.dtype)
    low, high = draws.quantile(ends).tolist()
    return low, high


def bootstrap_p(differences: Tensor) -> float:
    """Return the two-sided p that a difference is 0, from its bootstrap draws: twice the smaller share on either side
    of 0.

    Draws that are nan are left out; p is 1 if none is left.
    """
    known = differences[differences.isfinite()]
    if not len(known):
        return 1.0
    tails = (int((known <= 0).sum()), int((known >= 0).sum()))
    # + 1: the observed rows count as a draw on each side, so that p is never 0.
    return min(1.0, 2 * (min(tails) + 1) / (len(known) + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p for how many were computed (Holm 1979): the chance that any of those below α is an error is at most α."""
    adjusted, least = [1.0] * len(p_values), 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        # A larger p must not become smaller than the one before.
        least = max(least, min(1.0, (len(p_values) - done) * p_values[place]))
        adjusted[place] = least
    return adjusted


def _weights(rows: int, seed: int) -> Iterator[Tensor]:
    """Yield how often each row is in a draw of as many rows, (draws, rows), in parts that fit the memory."""
    generator, done = torch.Generator().manual_seed(seed), 0
    while done < DRAWS:
        count = min(DRAWS - done, max(1, _CELLS // rows))
        drawn = torch.randint(rows, (count, rows), generator=generator)
        yield torch.zeros(count, rows, dtype=torch.double).scatter_add_(1, drawn, torch.ones_like(drawn).double())
        done += count


def accuracy(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Return the share of right answers in each draw."""
    return weights @ (labels == predictions).double() / weights.sum(-1)


def f1(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Return F1 of class 1 in each draw: 2 TP / (2 TP + FP + FN)."""
    true, guessed = (labels == 1).double(), (predictions == 1).double()
    return 2 * (weights @ (true * guessed)) / (weights @ (true + guessed))


def matthews(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Return Matthews' correlation of any number of classes in each draw (Gorodkin 2004)."""
    classes = torch.unique(torch.cat([labels, predictions]))
    true, guessed = ((given[:, None] == classes).double() for given in (labels, predictions))
    total, right = weights.sum(-1), weights @ (labels == predictions).double()
    truths, guesses = weights @ true, weights @ guessed
    both = (total**2 - truths.square().sum(-1)) * (total**2 - guesses.square().sum(-1))
    found: Tensor = (total * right - (truths * guesses).sum(-1)) / both.sqrt()
    return found


def pearson(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Return Pearson's correlation in each draw."""
    shape = (len(weights), len(labels))
    return _correlation(labels.double().expand(shape), predictions.double().expand(shape), weights)


def spearman(labels: Tensor, predictions: Tensor, weights: Tensor) -> Tensor:
    """Return Pearson's correlation of the ranks in each draw; rows of one value share the mean of their ranks."""
    return _correlation(_ranks(labels, weights), _ranks(predictions, weights), weights)


def _ranks(values: Tensor, weights: Tensor) -> Tensor:
    """Return each row's mean rank within each draw, (draws, rows)."""
    distinct, place = torch.unique(values, return_inverse=True)
    counts = torch.zeros(len(weights), len(distinct), dtype=weights.dtype).index_add_(1, place, weights)
    return (counts.cumsum(-1) - (counts - 1) / 2)[:, place]  # the mean of the ranks that equal values take


def _correlation(first: Tensor, second: Tensor, weights: Tensor) -> Tensor:
    share = weights / weights.sum(-1, keepdim=True)
    first, second = (given - (share * given).sum(-1, keepdim=True) for given in (first, second))
    spreads = (share * first.square()).sum(-1) * (share * second.square()).sum(-1)
    known = spreads > 1e-24  # a draw may repeat one value only, and rounding then leaves a spread of almost 0
    return torch.where(known, (share * first * second).sum(-1) / spreads.clamp_min(1e-24).sqrt(), torch.nan)


STATISTICS: dict[str, Statistic] = {
    "accuracy": accuracy,
    "f1": f1,
    "matthews": matthews,
    "pearson": pearson,
    "spearman": spearman,
}
"""The statistics by the metrics' slugs in explorer.tasks.metrics."""
