"""Which of W + ΔW's strongest directions are intruders, directions that W did not have: what is asked, and what is found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from explorer.action import LiveAction
from explorer.engine.protocol import Engine, Job
from explorer.kinds import Number, Whole
from explorer.labs.delta import plain
from explorer.labs.delta.params import OPENING_LAYER, ExperimentParams, Layer, Module, Run
from explorer.params import Shown, params
from explorer.runs.comparing import Compared, follow_all, require_success
from explorer.runs.examples import FIRST, OTHER_RANK
from explorer.tables import Table
from explorer.worked import Opening

MOST_DIRECTIONS = 100

First = Annotated[int, Whole(1, MOST_DIRECTIONS), Shown("Directions k of W + ΔW", slider=(1, 64))]
Epsilon = Annotated[float, Number(0, 1), Shown("Threshold ε", slider=(0, 1, 0.05))]


@params
class IntruderParams:
    """Two runs, one matrix of one layer, how many of its directions, and below which |cos| one is an intruder."""

    run_a: Run = FIRST
    run_b: Run = OTHER_RANK
    layer: Layer = 0
    module: Module = "query"
    k: First = 10
    epsilon: Epsilon = 0.5


@params
class TrainIntrudersParams(ExperimentParams):
    """LoRA and full fine-tuning, trained on the same examples, and the same question about the two."""

    layer: Layer = 0
    k: First = 10
    epsilon: Epsilon = 0.5


@dataclass(frozen=True)
class LayerCosines:
    """One layer: largest |cos| of each of W + ΔW's first directions with W's, and with which of them (from 1)."""

    layer: int
    largest: tuple[float, ...]
    closest: tuple[int, ...]


@dataclass(frozen=True)
class RunIntruders:
    """One run. grid: |cos| of W + ΔW's first directions, a row each, with as many of W's, for the chosen layer.

    layers: the chosen one first, then the others that the run adapted, as they have been computed. chance: the largest |cos|
    that a random direction has.
    """

    name: str
    low_rank: bool
    grid: tuple[tuple[float, ...], ...]
    layers: tuple[LayerCosines, ...]
    chance: float

    def count(self, epsilon: float, layer: int | None = None) -> int:
        """Count the intruders in a layer, or in all."""
        chosen = [one for one in self.layers if layer in (None, one.layer)]
        return sum(cosine < epsilon for one in chosen for cosine in one.largest)

    @property
    def looked_at(self) -> int:
        """How many directions of all layers there are so far."""
        return sum(len(one.largest) for one in self.layers)


@dataclass(frozen=True)
class IntruderResult:
    """layer, module: the matrix of the grids; the counts are over the module's matrices in `done` of `of` layers."""

    layer: int
    module: str
    k: int
    epsilon: float
    runs: tuple[RunIntruders, ...]
    done: int
    of: int


@dataclass(frozen=True)
class TrainedIntruders:
    """Two runs' current records, and their intruders once both are done."""

    compared: Compared
    found: IntruderResult | None = None


def intruders_table(result: IntruderResult) -> Table:
    """run, layer, vector (of W + ΔW, from 1), largest_cosine, closest (direction of W, from 1), intruder (1 or 0)."""
    rows = [
        (run.name, one.layer, place, cosine, closest, int(cosine < result.epsilon))
        for run in result.runs
        for one in sorted(run.layers, key=lambda one: one.layer)
        for place, (cosine, closest) in enumerate(zip(one.largest, one.closest, strict=True), start=1)
    ]
    return Table.of(("run", "layer", "vector", "largest_cosine", "closest", "intruder"), rows)


def trained_table(trained: TrainedIntruders) -> Table:
    """run, layer, vector, largest_cosine, closest, intruder: as intruders_table; without rows until both runs are done."""
    if trained.found is None:
        return Table.of(("run", "layer", "vector", "largest_cosine", "closest", "intruder"), [])
    return intruders_table(trained.found)


_FIND = Job("explorer.labs.delta.intruders_jobs:intruder_dimensions", on="resources")


def train_intruders(engine: Engine, params: TrainIntrudersParams, owner: str) -> Iterator[TrainedIntruders | None]:
    """Train LoRA and all of the model on the same examples, then look for intruders in each (Shuttleworth et al. 2024)."""
    lora, full = started = tuple(engine.runs.start(spec, owner) for spec in params.specs())
    last = Compared(())
    for compared in follow_all(engine.runs, started):
        last = compared or last
        yield TrainedIntruders(compared) if compared is not None else None
    require_success(last)  # before anything is asked of a run that failed
    asked = IntruderParams(lora, full, params.layer, params.module, params.k, params.epsilon)
    yield TrainedIntruders(last, engine.follow(_FIND, asked).last.result())


INTRUDERS = LiveAction(
    _FIND,
    IntruderParams,
    intruders_table,
    plain=plain.intruders,
    openings=(Opening(IntruderParams(layer=OPENING_LAYER), IntruderResult),),
)
TRAIN_INTRUDERS = LiveAction(f"{__name__}:train_intruders", TrainIntrudersParams, trained_table)
