"""Singular values of 24 updates from their LoRA factors, against a dense SVD of each product."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from explorer.maths.spectra import low_rank_spectrum

MATRICES, WIDTH, RANK, SCALE = 24, 768, 8, 2.0
"""Query and value of twelve layers, as LoRA adapts RoBERTa-base."""

ROUNDS = 3
CALLS = 20
"""Of the quick one in each round. The two take turns, the dense SVD with one thread and with all, and the best of each counts:
on a busy machine threads that wait for each other slow it far more than a thing of half a millisecond, which would flatter
us."""


def timed(call: Callable[[], Tensor], calls: int) -> tuple[float, Tensor]:
    """The least seconds of a call, and what it returned."""
    times = []
    for _ in range(calls):
        began = time.perf_counter()
        values = call()
        times.append(time.perf_counter() - began)
    return min(times), values


def measure() -> str:
    """One line: milliseconds of both, their ratio, and the largest difference as a share of the largest value."""
    draw = torch.Generator().manual_seed(0)
    down = torch.randn(MATRICES, RANK, WIDTH, generator=draw)
    up = torch.randn(MATRICES, WIDTH, RANK, generator=draw) * torch.logspace(0, -3, RANK)
    products = SCALE * up @ down
    low_rank_spectrum(down, up, SCALE)
    torch.linalg.svdvals(products[:1])
    quick, slow, threads = [], [], torch.get_num_threads()
    for _ in range(ROUNDS):
        seconds, ours = timed(lambda: low_rank_spectrum(down, up, SCALE), CALLS)
        quick.append(seconds)
        for count in {1, threads}:
            torch.set_num_threads(count)
            seconds, dense = timed(lambda: torch.linalg.svdvals(products), 1)
            slow.append(seconds)
        torch.set_num_threads(threads)
    difference = ((ours - dense[:, :RANK]).abs().amax(1) / dense[:, 0]).max()
    return (
        f"spectra of {MATRICES} updates {WIDTH} x {WIDTH}, r = {RANK}: {1e3 * min(quick):.2f} ms against "
        f"{1e3 * min(slow):.0f} ms by dense SVD (the products not counted), {min(slow) / min(quick):.0f} times "
        f"as fast (wanted: at least 300); largest difference {float(difference):.1e} of the largest singular value "
        "(wanted: at most 1e-5)"
    )
