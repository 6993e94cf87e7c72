"""The attribution lab's jobs, block by block: a model's answer, or a fine-tuned run's class, shared out among a text's tokens."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.attribution import compute
from explorer.labs.attribution.params import AttributeParams, AttributeRunParams
from explorer.labs.attribution.schema import (
    STEPS,
    Asked,
    AskParams,
    AttributionResult,
    GradientParams,
    OccludeParams,
    Part,
    PathParams,
    Progress,
    RolloutParams,
    summed,
    units_of,
)
from explorer.models.loaded_model import LoadedModel
from explorer.runs.record import RunRecord
from explorer.tuning.merging import as_loaded

Block = Callable[[Callable[[Any, Any], Any], Any], Any]
"""Does a piece of work, a function of compute.py with its parameters, or remembers it."""

Results = Iterator[AttributionResult]

FIRST_RATE = 3
"""Blocks of work after which the time left can be told."""


def attributed(block: Block, params: AskParams, methods: Sequence[str], by: str, steps: int) -> Results:
    """Ask the model first, then run the rollout, then the chosen methods from the quickest to the slowest.

    steps: of the methods that take steps; 0 raises them until the sum is close enough.
    """
    asked: Asked = block(compute.ask, params)
    board = _Board(asked, by, methods)
    yield board.result()  # the answer, at once
    shares = block(compute.rollout_block, RolloutParams(asked.fixed))
    yield board.finished("rollout", summed(shares, board.units), 1)
    for method in ("gradient_x_input", "saliency"):
        if method in methods:
            values = block(compute.gradient_block, GradientParams(asked.fixed, method))
            yield board.finished(method, summed(values, board.units), 2)
    if "integrated_gradients" in methods:
        yield from _along_the_way(board, "integrated_gradients", partial(block, compute.path_block), steps)
    if "occlusion" in methods:
        yield from _occlusion(board, partial(block, compute.occlude_block))
    if "conductance" in methods:
        yield from _along_the_way(board, "conductance", partial(block, compute.layers_block), steps)


class _Board:
    """What is known so far. Work is counted in passes of one text; one with its gradient counts as two."""

    def __init__(self, asked: Asked, by: str, methods: Sequence[str]) -> None:
        self.asked, self.by, self.units = asked, by, units_of(asked.tokens, by)
        self.parts = {name: Part(name, (None,) * len(self.units)) for name in (*methods, "rollout")}
        self.doing, self.done, self.blocks, self.began = "attention rollout", 0, 0, time.monotonic()
        steps = 2 * STEPS[0]
        passes = {"integrated_gradients": steps, "conductance": steps, "occlusion": len(self.changed), "rollout": 1}
        self.ahead = {name: passes.get(name, 2) for name in self.parts}  # 2: a pass and its gradient

    @property
    def changed(self) -> list[int]:
        """The units that the baseline changes, by their number."""
        return [number for number, unit in enumerate(self.units) if not unit.kept]

    def result(self) -> AttributionResult:
        """Return what is known so far."""
        going = any(not part.done for part in self.parts.values())
        return AttributionResult(
            self.asked, self.by, self.units, tuple(self.parts.values()), self._progress() if going else None
        )

    def _progress(self) -> Progress:
        left = sum(self.ahead.values())
        rate = self.done / max(1e-6, time.monotonic() - self.began)  # a coarse clock may not have moved yet
        # No number that would jump about.
        return Progress(self.doing, self.done, self.done + left, left / rate if self.blocks >= FIRST_RATE else None)

    def expect(self, method: str, passes: int) -> None:
        """Set how much a method still has to do."""
        self.ahead[method] = passes

    def worked(self, method: str, passes: int, doing: str) -> None:
        """Count what has been done for a method."""
        self.doing, self.blocks, self.done = doing, self.blocks + 1, self.done + passes
        self.ahead[method] = max(0, self.ahead[method] - passes)

    def put(self, method: str, **changes: Any) -> AttributionResult:
        """Change the state of one method; return all that is known."""
        self.parts[method] = replace(self.parts[method], **changes)
        if self.parts[method].done:
            self.ahead[method] = 0  # blocks that turned out unneeded
        return self.result()

    def finished(self, method: str, values: Sequence[float], passes: int) -> AttributionResult:
        """Record a method that is done in one block; return all that is known."""
        self.worked(method, passes, self.parts[method].about.title)
        return self.put(method, values=tuple(values), done=True)


def _along_the_way(board: _Board, method: str, block: Callable[[Any], Any], steps: int) -> Results:
    """Follow the path from the baseline to the text, with more steps if the method's sum is not close enough."""
    rows, title = board.asked.rows, board.parts[method].about.title
    for number in (steps,) if steps else STEPS:
        board.expect(method, 2 * number)
        # A finer way has other nodes: nothing of the coarser one can be kept.
        blocks = []
        # blocks of one length: a short last one costs almost as much
        size = math.ceil(number / math.ceil(number / rows))
        for first in range(0, number, size):
            last = min(first + size, number)
            blocks.append(block(PathParams(board.asked.fixed, number, first, last)))
            board.worked(method, 2 * (last - first), f"{title}, step {last} of {number}")
            if last < number:  # the last block comes with the sums below
                yield board.result()
        found = _added_up(board, method, blocks)
        enough = bool(steps) or number == STEPS[-1] or abs(found["delta"]) <= board.asked.tolerance
        yield board.put(method, steps=number, done=enough, **found)
        if enough:
            return


def _added_up(board: _Board, method: str, blocks: Sequence[Any]) -> dict[str, Any]:
    """Add up all blocks of a method, and measure how far their sum is from f(x) − f(baseline)."""
    if not board.parts[method].about.by_layer:
        values = summed(_added(blocks), board.units)
        # An exact sum: rounding would be read as a delta.
        return {"values": values, "delta": math.fsum(values) - board.asked.change}
    layers = tuple(summed(_added(layer), board.units) for layer in zip(*blocks, strict=True))
    return {"layers": layers, "delta": max((math.fsum(row) - board.asked.change for row in layers), key=abs)}


def _added(rows: Iterable[Sequence[float]]) -> list[float]:
    return [math.fsum(column) for column in zip(*rows, strict=True)]


def _occlusion(board: _Board, block: Callable[[Any], Any]) -> Results:
    """Occlude some units at a time, without those that the baseline keeps."""
    at_once, changed = 2 * board.asked.rows, board.changed  # without gradients a pass takes half the operations
    values: list[float | None] = [0.0 if unit.kept else None for unit in board.units]
    for first in range(0, len(changed), at_once):
        numbers = changed[first : first + at_once]
        groups = tuple(board.units[number].positions for number in numbers)
        falls = block(OccludeParams(board.asked.fixed, groups))
        for number, fall in zip(numbers, falls, strict=True):
            values[number] = fall
        board.worked("occlusion", len(numbers), f"Occlusion, {board.by[:-1]} {first + len(numbers)} of {len(changed)}")
        yield board.put("occlusion", values=tuple(values))
    yield board.put("occlusion", values=tuple(values), done=True)


def attribute(resources: Resources, params: AttributeParams) -> Results:
    """Attribute a model's answer to the tokens of a text; each result has more in it, and the last has all."""
    asked = AskParams(params.text, params.second, params.target, params.baseline, params.position)
    yield from _attributed(resources, resources.model(params.model), asked, params)


def attribute_run(resources: Resources, params: AttributeRunParams) -> Results:
    """Attribute a fine-tuned classifier's class to the tokens of a text, method after method.

    Raises BadInputError for a run that has no classes or no weights.
    """
    run = resources.open_run(params.run)
    run.require_weights()
    record = run.record
    if not record.labels:
        raise BadInputError(
            f"{record.name} predicts no class (it gives a score or fills masks), so there are no log-odds to share out. "
            "Choose a run of a classification task."
        )
    with torch.inference_mode(False):  # no gradient passes weights that are loaded in inference mode
        opened = as_loaded(run.restore(), record.name)
    second = _second_of(record, params.sentence_b)
    asked = AskParams(params.sentence_a, second, params.target, params.baseline, classes=record.labels)
    yield from _attributed(resources, opened, asked, params)


def _attributed(resources: Resources, loaded: LoadedModel, asked: AskParams, params: Any) -> Results:
    """Attribute in remembered blocks, so that another choice of methods finds those of the methods that stay."""

    def block(function: Callable[[LoadedModel, Any], Any], given: Any) -> Any:
        return resources.once((function.__name__, given), lambda: function(loaded, given))

    yield from attributed(block, asked, params.method, params.by, params.steps)


def _second_of(record: RunRecord, second: str) -> str:
    """Return the second text, if the run's task reads one. Raises BadInputError if it is missing."""
    if len(record.columns) == 2 and not second:
        raise BadInputError(f"{record.task_title} reads two texts; type the second one as well.")
    return "" if len(record.columns) == 1 else second  # what another run left in the box is not read
