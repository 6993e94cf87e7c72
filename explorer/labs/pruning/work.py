"""One model or run that is pruned, with what is asked about it again and again; and prunings that wait to be taken home."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import torch
from torch import Tensor

from explorer.compress import between
from explorer.compress.cuts import NOTHING, Cut, kinds_of
from explorer.compress.importance import Masks, Weights, unit_sums, weight_scores
from explorer.compress.removal import count_parameters, size_in_bytes
from explorer.compress.subject import Subject, of_model, of_run
from explorer.engine.computation import Together
from explorer.engine.resources import Resources
from explorer.errors import ExplorerError
from explorer.labs.pruning.params import Asking
from explorer.labs.pruning.schema import About, Grid, Measured, Speed
from explorer.lru_cache import LRUCache
from explorer.maths.importance import SCORES, Sums
from explorer.models.timing import milliseconds
from explorer.settings import settings
from explorer.tasks.metrics import METRICS
from explorer.tasks.sources import load
from explorer.tuning.reading import Scale

MOST_KEPT, MOST_TRAINED = 1000, 3


@dataclass(frozen=True)
class Pruned:
    """What is gone, and the weights that are other ones than the model's: trained, or set to 0.

    gone: masks of the single weights that are 0, by parameter.
    """

    cut: Cut = NOTHING
    weights: dict[str, Tensor] = field(default_factory=dict)
    gone: dict[str, Tensor] = field(default_factory=dict)

    @property
    def untouched(self) -> bool:
        """Whether it is still the model itself."""
        return self.cut.empty and not self.weights


_KEPT: OrderedDict[str, Pruned] = OrderedDict()
_LOCK = threading.Lock()
_TRAINING = threading.BoundedSemaphore(MOST_TRAINED)


def find(key: str) -> Pruned | None:
    """Return what is kept under a key; None if nothing is."""
    with _LOCK:
        return _KEPT.get(key)


def keep(key: str, pruned: Pruned) -> None:
    """Remember a pruning; other weights take as much memory as the model, so only the last few of those."""
    with _LOCK:
        _KEPT[key] = pruned
        _KEPT.move_to_end(key)
        trained = [name for name, entry in _KEPT.items() if entry.weights]
        for name in trained[:-MOST_TRAINED]:
            del _KEPT[name]
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)


@contextmanager
def own_weights(needed: bool) -> Iterator[None]:
    """Hold room for weights of a pruning's own, while it goes on. Raises ExplorerError if too many others have theirs."""
    if needed and not _TRAINING.acquire(blocking=False):  # at once: a queue of prunings would hold workers
        raise ExplorerError("Too many prunings train at the same time. Start this one again when another is done.")
    try:
        yield
    finally:
        if needed:
            _TRAINING.release()


STANDARD_TASK = "sst2"
COLUMN_BATCH = 16
"""Rows of the calls that the milliseconds of a table are of."""

CHUNK = 16
"""Examples whose gradients are summed at a time."""

UNTOUCHED = Pruned()

_SUBJECTS = LRUCache(2)
_SCORES = LRUCache(1)
"""Scores of all weights take as much memory as the weights."""


@dataclass(frozen=True)
class Work:
    """What is pruned, and how: a subject, and the question that all jobs here begin with."""

    subject: Subject
    resources: Resources
    params: Asking

    @cached_property
    def about(self) -> About:
        """What is pruned, in plain values."""
        subject = self.subject
        asks = subject.kind.asks if self.params.loss == "labels" else "the entropy of the model's own output"
        return About(
            subject.name,
            subject.data.task.title,
            METRICS[subject.metric].title,
            asks,
            subject.shape,
            len(subject.examples),
            len(subject.held_out),
            subject.fixed,
        )

    @property
    def starts(self) -> range:
        """Where the chunks of examples begin."""
        return range(0, len(self.subject.examples), CHUNK)

    def _once(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        asked = (self.params.task, self.params.examples, self.params.held_out)
        return self.resources.once((*key, *asked), make)

    def sums(self, kind: str, start: int, pruned: Pruned = UNTOUCHED) -> Sums:
        """Sum a chunk's gradients at the gates of one kind, with what is gone already."""
        stop = min(start + CHUNK, len(self.subject.examples))

        def summed() -> Sums:
            model = between.with_weights(self.subject, pruned.weights) if pruned.weights else None
            return unit_sums(self.subject, kind, self.params.loss, start, stop, pruned.cut, model)

        # Kept for the whole model alone, which is asked about again.
        return self._once(("sums", kind, self.params.loss, start), summed) if pruned.untouched else summed()

    def grids(self, unit: str, score: str, pruned: Pruned = UNTOUCHED) -> Generator[Together, Any, dict[str, Grid]]:
        """Compute the importance of each kind of unit, from all examples."""
        kinds, count = kinds_of(unit), len(self.starts)
        pieces = [(kind, start) for kind in kinds for start in self.starts]
        parts = yield Together(lambda piece: self.sums(piece[0], piece[1], pruned), pieces)
        return {
            kind: grid_of(importance_of(reduce(add, parts[place * count : (place + 1) * count]), score)[0])
            for place, kind in enumerate(kinds)
        }

    def scores(self, score: str) -> tuple[Weights, dict[tuple[int, str], float]]:
        """Score all single weights; return the scores, and the standard error of each matrix's mean."""
        subject = self.subject
        examples = len(subject.examples) if SCORES[score].reads_examples else 0

        def scored() -> Any:
            with torch.inference_mode(False):
                # With the subject, which keeps its model's id from naming another.
                return subject, weight_scores(subject, score, self.params.loss, examples)

        key = (id(subject.model), subject.data.name, score, self.params.loss, examples)
        found: tuple[Weights, dict[tuple[int, str], float]] = _SCORES.get(key, scored)[1]
        return found

    def left(self, pruned: Pruned) -> Subject:
        """Return the subject with a pruning's weights; its cut is still to be made."""
        if not pruned.weights:
            return self.subject
        return self.subject.having(between.with_weights(self.subject, pruned.weights))

    def measure(self, pruned: Pruned = UNTOUCHED, timed: bool = False) -> Measured:
        """Measure the metric, the parameters that are not 0, the size, and the milliseconds of a call if `timed`."""
        if pruned.untouched:
            found: Measured = self._once(("measure", timed), lambda: self._measure(pruned, timed))
            return found
        return self._measure(pruned, timed)

    def _measure(self, pruned: Pruned, timed: bool) -> Measured:
        with self.left(pruned).without(pruned.cut) as model:
            spent = self.timed([model])[0] if timed else None
            return Measured(
                self.subject.measure(model), parameters_left(model, pruned.gone), size_in_bytes(model), spent
            )

    def speed(self, pruned: Pruned, batch: int) -> Speed:
        """Time the whole and the pruned model, in turns; where nothing is gone they are one."""
        if pruned.untouched:
            (spent,) = self.timed([self.subject.tree()], batch)
            return Speed(batch, spent, spent)
        with self.left(pruned).without(pruned.cut) as model:
            return Speed(batch, *self.timed([self.left(pruned).tree(), model], batch))

    def timed(self, models: list[Any], batch: int = COLUMN_BATCH) -> list[float]:
        """Return the milliseconds of a call of each model, in turns."""
        inputs = self.subject.batch(batch)
        # Bound now: a closure would call the last model.
        calls = [lambda model=model: self.subject.scores(model, inputs) for model in models]
        return milliseconds(calls, self.subject.loaded.device)


def opened(resources: Resources, params: Asking) -> Work:
    """Open the run that is named, else the model. Raises BadInputError if it cannot be pruned or has no such task."""
    return Work(
        _subject_of_run(resources, params) if params.run else _subject_of_model(resources, params), resources, params
    )


def _subject_of_model(resources: Resources, params: Asking) -> Subject:
    loaded, task = resources.model(params.model), params.task or STANDARD_TASK

    def make() -> Subject:
        return of_model(loaded, load(task, settings()), params.examples, params.held_out)

    return _subject((id(loaded.model), task, params.examples, params.held_out), make)


def _subject_of_run(resources: Resources, params: Asking) -> Subject:
    run = resources.open_run(params.run)
    run.require_weights()
    record, adapted = run.record, run.restore()
    task = params.task or record.spec.task

    def make() -> Subject:
        data = load(task, settings())
        return of_run(adapted, record.name, data, Scale(*record.scale), params.examples, params.held_out)

    return _subject((id(adapted), task, params.examples, params.held_out), make)


def _subject(key: tuple[Any, ...], make: Callable[[], Subject]) -> Subject:
    """Make a subject once for the jobs that ask about it; outside of inference mode, so that gradients can flow through
    it.
    """

    def outside() -> Subject:
        with torch.inference_mode(False), torch.no_grad():
            return make()

    found: Subject = _SUBJECTS.get(key, outside)
    return found


def importance_of(sums: Sums, score: str) -> tuple[Tensor, Tensor]:
    """Return the importance of heads, neurons or layers, and its standard error."""
    of_units = SCORES[score].of_units
    assert of_units is not None, f"{score} is of weights alone"
    return of_units(sums)


def grid_of(values: Tensor) -> Grid:
    """Return a tensor in plain values."""
    return tuple(tuple(row) for row in values.tolist())


def parameters_left(model: Any, gone: Masks) -> int:
    """Count the parameters without the single weights that are gone."""
    return count_parameters(model) - sum(int(mask.sum()) for mask in gone.values())
