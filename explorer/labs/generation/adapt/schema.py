"""Runs that learn to put meanings into words: plain data."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Name, Names
from explorer.labs.generation.continued.schema import WRITER
from explorer.params import Shown, params
from explorer.runs.examples import BY_WRITER, WRITTEN
from explorer.runs.seeds import Seeds
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import Alpha, BatchSize, Epochs, Examples, LearningRate, Rank, RunSeed, Targets, Task

_WORKED = BY_WRITER[WRITTEN]
ABLE = tuple(method for method in METHODS if method.trains_body)
"""All but the head alone: the head that writes is the model's own."""


def _known(methods: tuple[str, ...]) -> tuple[str, ...]:
    names = [method.slug for method in ABLE]
    wrong = [name for name in methods if name not in names]
    if wrong or not methods:
        raise BadInputError(f"methods takes some of {', '.join(names)}; got {', '.join(wrong)[:60] or 'none'}.")
    return methods


@params
class AdaptParams:
    """One run a method and seed, with the same meanings. learning_rate: None takes what suits each method."""

    model: Annotated[str, Name(missing=f"Choose a model that continues a text, such as {WRITER}.")] = WRITER
    task: Task = _WORKED.task
    methods: Annotated[
        tuple[str, ...],
        Names(),
        AfterValidator(_known),
        Shown("Methods", choices=tuple((method.title, method.slug) for method in ABLE)),
    ] = ("lora", "prefix", "full")
    rank: Rank = _WORKED.rank
    targets: Targets = _WORKED.targets
    alpha: Alpha = _WORKED.alpha
    epochs: Epochs = 10
    batch_size: BatchSize = _WORKED.batch_size
    examples: Examples = 0
    learning_rate: LearningRate = None
    seed: RunSeed = 0
    seeds: Seeds = 1
