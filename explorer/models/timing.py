"""Measures milliseconds a call, of models side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles

import numpy as np
import torch

from explorer.maths.intervals import Ratio, Spent
from explorer.wanted import go_on

DRAWS = 9_999
"""Draws of the bootstrap."""


def ratio(values: Sequence[float], others: Sequence[float]) -> Ratio:
    """Compare the milliseconds of two calls, round by round: whatever else the machine did in a round affects both.

    The interval is the percentile bootstrap's of the median (Efron and Tibshirani 1993, chapter 13).
    """
    each = np.array(values) / np.array(others)
    drawn = np.median(np.random.default_rng(0).choice(each, (DRAWS, len(each))), axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Ratio(float(np.median(each)), float(low), float(high))


def milliseconds(calls: Sequence[Callable[[], object]], device: torch.device, times: int = 4) -> list[float]:
    """Return the shortest of several calls of each: whatever else the machine does can only make a call slower."""
    return [min(values) for values in in_turns(calls, device, times)]


def typical_milliseconds(calls: Sequence[Callable[[], object]], device: torch.device, times: int) -> list[Spent]:
    """Return the median and the spread of several calls of each."""
    return [spent(values) for values in in_turns(calls, device, times)]


def spent(values: Sequence[float]) -> Spent:
    """Return the median and quartiles of calls' milliseconds; of one call, it itself for all three."""
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else 3 * [values[0]]
    return Spent(middle, low, high)


def in_turns(calls: Sequence[Callable[[], object]], device: torch.device, times: int) -> list[list[float]]:
    """Time every call `times` times, and return one list of milliseconds for each of `calls`.

    They take turns, so that whatever else the machine does affects all of them alike, and each round begins with
    another one, so that none always follows the same.
    """
    taken: list[list[float]] = [[] for _ in calls]
    for timed in one_by_one(calls, device, times):
        if timed:
            taken[timed[0]].append(timed[1])
    return taken


def one_by_one(
    calls: Sequence[Callable[[], object]], device: torch.device, times: int
) -> Iterator[tuple[int, float] | None]:
    """Do the same as in_turns, and yield each call's place in `calls` with its milliseconds: calls that take long leave
    room for other questions between them. A round that warms up comes first, of None.
    """
    for turn in range(times + 1):
        for number in range(len(calls)):
            go_on()
            place = (number + turn) % len(calls)
            _wait(device)
            began = time.perf_counter()
            with torch.inference_mode():
                calls[place]()
            _wait(device)
            yield (place, 1000 * (time.perf_counter() - began)) if turn else None


def _wait(device: torch.device) -> None:
    if device.type == "cuda":  # a call returns once its work is queued, not done
        torch.cuda.synchronize(device)
