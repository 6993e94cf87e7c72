"""Milliseconds a call, of models side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles

import torch


@dataclass(frozen=True)
class Spent:
    """Milliseconds a call: the median, and the quartiles, between which half of the calls lie."""

    median: float
    low: float
    high: float


def milliseconds(calls: Sequence[Callable[[], object]], device: torch.device, times: int = 4) -> list[float]:
    """The quickest of several calls of each: whatever else the machine does can only make a call slower."""
    return [min(values) for values in in_turns(calls, device, times)]


def typical_milliseconds(calls: Sequence[Callable[[], object]], device: torch.device, times: int) -> list[Spent]:
    """The median and the spread of several calls of each."""
    return [spent(values) for values in in_turns(calls, device, times)]


def spent(values: Sequence[float]) -> Spent:
    """From two or more calls' milliseconds."""
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Spent(middle, low, high)


@torch.inference_mode()
def in_turns(calls: Sequence[Callable[[], object]], device: torch.device, times: int) -> list[list[float]]:
    """Milliseconds of every call, a list for each of `calls`: they take turns, so that what else the machine does falls on
    all of them alike."""
    taken: list[list[float]] = [[] for _ in calls]
    for turn in range(times + 1):
        for place, call in enumerate(calls):
            _wait(device)
            began = time.perf_counter()
            call()
            _wait(device)
            if turn:  # the first one warms up
                taken[place].append(1000 * (time.perf_counter() - began))
    return taken


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
