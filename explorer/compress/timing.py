"""Milliseconds a call, of models side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from explorer.compress.subject import Subject

BATCHES = (1, 4, 16, 64)
"""Michel et al. 2019, Table 4."""


def batch_of(subject: Subject, size: int) -> dict[str, Tensor]:
    """The first held-out examples, again from the start where there are too few, padded to the longest of them."""
    places = [place % len(subject.held_out) for place in range(size)]
    return subject.held_out.batch(places, subject.bundle.device)[0]


@torch.inference_mode()
def milliseconds(calls: Sequence[Callable[[], object]], device: torch.device, times: int = 4) -> list[float]:
    """The quickest of several calls of each, in turns: whatever else the machine does can only make a call slower."""
    spent: list[list[float]] = [[] for _ in calls]
    for turn in range(times + 1):
        for place, call in enumerate(calls):
            _wait(device)
            began = time.perf_counter()
            call()
            _wait(device)
            if turn:  # the first one warms up
                spent[place].append(1000 * (time.perf_counter() - began))
    return [min(values) for values in spent]


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
