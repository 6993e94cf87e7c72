"""Importance from one pass against a plain pass and against leaving heads out one by one, and what removing half gains."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from scipy.stats import spearmanr
from torch import Tensor

from explorer.compress.cuts import Cut, choose
from explorer.compress.importance import unit_sums
from explorer.compress.removal import remove
from explorer.compress.subject import TOKENS_AT_ONCE, Subject, of_run
from explorer.engine.local import LocalEngine
from explorer.maths.importance import mean_and_error
from explorer.models.inside import gated
from explorer.models.timing import milliseconds
from explorer.runs.examples import FIRST
from explorer.runs.open import OpenRuns
from explorer.settings import Settings
from explorer.tasks.sources import load
from explorer.tuning.reading import Scale, precision
from explorer.tuning.rows import ordered_batches

EXAMPLES, BATCH, TIMES = 32, 16, 3


def example() -> Subject:
    """The worked example: LoRA on SST-2, 6 layers of 12 heads."""
    settings = Settings(device="cpu")
    engine = LocalEngine(settings)
    run = OpenRuns(engine.runs.get, engine.runs.store.folder_of, engine.store.get)(FIRST)
    record = run.record
    return of_run(run.restore(), record.name, load("sst2", settings), Scale(*record.scale), EXAMPLES, 80)


def quickest(*works: Callable[[], object]) -> list[float]:
    """Seconds of each, the quickest of several calls in turns."""
    spent: list[list[float]] = [[] for _ in works]
    for _ in range(TIMES):
        for place, work in enumerate(works):
            began = time.perf_counter()
            work()
            spent[place].append(time.perf_counter() - began)
    return [min(times) for times in spent]


def batches(subject: Subject) -> list[list[int]]:
    """As importance reads them."""
    return list(ordered_batches(subject.examples.rows.lengths, TOKENS_AT_ONCE))


def plain_pass(subject: Subject) -> None:
    """One forward and backward pass over the examples, as training does it."""
    tree = subject.tree().requires_grad_(True)
    for places in batches(subject):
        with precision(subject.loaded.device):
            loss = subject.losses(tree, places, "labels").sum()
        loss.backward()  # type: ignore[no-untyped-call]
        tree.zero_grad(set_to_none=True)


@torch.inference_mode()
def one_by_one(subject: Subject) -> Tensor:
    """E|change of the loss| without each head, (layers, heads): one forward pass over the examples a head."""
    tree, shape = subject.tree(), subject.shape

    def losses(gates: Tensor) -> Tensor:
        parts = []
        for places in batches(subject):
            with gated(tree, subject.loaded.architecture, gates), precision(subject.loaded.device):
                parts.append(subject.losses(tree, places, "labels"))
        return torch.cat(parts)

    whole = torch.ones(shape.depth, shape.heads)
    before, found = losses(whole), torch.zeros(shape.depth, shape.heads)
    for layer in range(shape.depth):
        for head in range(shape.heads):
            gates = whole.clone()
            gates[layer, head] = 0
            found[layer, head] = (losses(gates) - before).abs().mean()
    return found


def measure() -> str:
    """One line: the two ratios of importance with the rank correlation, and the speed with half of it removed."""
    subject = example()
    sums, plain = quickest(lambda: unit_sums(subject, "head", "labels", 0, EXAMPLES), lambda: plain_pass(subject))
    began = time.perf_counter()
    left_out = one_by_one(subject)
    alone = time.perf_counter() - began
    importance = mean_and_error(unit_sums(subject, "head", "labels", 0, EXAMPLES))[0]
    grids = {unit: mean_and_error(unit_sums(subject, unit, "labels", 0, EXAMPLES))[0] for unit in ("head", "neuron")}
    halves = [choose(grid.tolist(), grid.numel() // 2) for grid in grids.values()]
    removed = remove(subject.model, subject.loaded.architecture, Cut(*halves))
    inputs = subject.batch(BATCH)
    correlation = float(spearmanr(importance.flatten(), left_out.flatten()).statistic)
    before, after = milliseconds(
        [lambda: subject.scores(subject.model, inputs), lambda: subject.scores(removed.model, inputs)],
        subject.loaded.device,
        10,
    )
    return (
        f"Importance of 72 heads from {EXAMPLES} examples: {sums / plain:.2f} times a plain forward and backward pass (wanted: "
        f"at most 1.5), {alone / sums:.0f} times faster than leaving heads out one by one (wanted: at least 20), rank "
        f"correlation {correlation:.2f}; half of the heads and neurons removed: "
        f"{before / after:.2f} times as fast at batch {BATCH} (wanted: at least 1.4)"
    )
