"""What can be asked of ΔW."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import model_validator

from explorer.errors import BadInputError
from explorer.kinds import Name, Names, OneOf, Read, Whole
from explorer.params import Shown, params
from explorer.runs.examples import FIRST, OTHER_RANK
from explorer.tuning.spec import (
    MOST_RANK,
    TARGETS,
    BatchSize,
    Epochs,
    Examples,
    RunSeed,
    RunSpec,
    Targets,
    Task,
    spec_of,
)

MOST_RANKS = 10
OPENING_LAYER = 5
"""The last of the worked example's six, in which its update has most structure."""

Run = Annotated[str, Name(missing="Choose a run first; the Fine-tune page trains one.")]
Layer = Annotated[int, Whole(0), Shown("Layer, from 0")]
Module = Annotated[str, Name(), Shown("Matrix", dropdown=True)]
Directions = Annotated[int, Whole(1), Shown("Directions r of ΔW", slider=(1, 64))]


def _different_ranks(given: Any) -> tuple[int, ...]:
    named = given.split(",") if isinstance(given, str) else Names().read(given, "ranks")
    ranks = tuple(Whole(1, MOST_RANK).read(rank, "ranks") for rank in named)
    if not 1 <= len(ranks) <= MOST_RANKS or len(set(ranks)) < len(ranks):
        raise BadInputError(f"Give 1 to {MOST_RANKS} different ranks, such as 1, 2, 4, 8, 64.")
    return ranks


@params
class SpectrumParams:
    """A run. step: of the training; 0 for the last."""

    run: Run = FIRST
    step: Annotated[int, Whole(0)] = 0


@params
class SubspaceParams:
    """Two runs, and one matrix of one layer."""

    run_a: Run = FIRST
    run_b: Run = OTHER_RANK
    layer: Layer = 0
    module: Module = "query"


@params
class AmplificationParams:
    """A run, one matrix of one layer, and how many of ΔW's directions."""

    run: Run = FIRST
    layer: Layer = 0
    module: Module = "query"
    r: Directions = 4


@params
class FactorsParams:
    """Two runs of one model, one module, all layers."""

    run_a: Run = FIRST
    run_b: Run = OTHER_RANK
    module: Module = "query"
    r: Directions = 4


@params
class PlacementParams:
    """A run and one matrix of one layer."""

    run: Run = FIRST
    layer: Layer = 0
    module: Module = "query"


@params
class FollowDeltaParams:
    """A run whose ΔW is redrawn as it trains."""

    run: Run = FIRST


@params
class ExperimentParams:
    """LoRA and full fine-tuning on the same examples, compared in r directions of each update."""

    model: Annotated[str, Name()]
    task: Task = "sst2"
    module: Annotated[str, OneOf(TARGETS), Shown("Matrix", dropdown=True)] = "query"
    r: Annotated[int, Whole(1, MOST_RANK), Shown("Directions r of ΔW", slider=(1, 64))] = 4
    epochs: Epochs = 3
    batch_size: BatchSize = 16
    examples: Examples = 0
    seed: RunSeed = 0

    @model_validator(mode="after")
    def _runs_are_possible(self) -> Self:
        self.specs()
        return self

    def specs(self) -> tuple[RunSpec, RunSpec]:
        """Return the two runs; LoRA's rank is at least r."""
        # 8: the rank of LoRA by default.
        lora = spec_of(self, method="lora", rank=max(8, self.r), targets=(self.module,))
        return lora, spec_of(self, method="full")


@params
class SweepParams:
    """LoRA at several ranks, alpha = 2 r, everything else alike."""

    model: Annotated[str, Name()]
    task: Task = "sst2"
    ranks: Annotated[tuple[int, ...], Read(_different_ranks), Shown("Ranks")] = (1, 2, 4, 8, 64)
    targets: Targets = ("query", "value")
    epochs: Epochs = 3
    batch_size: BatchSize = 16
    examples: Examples = 0
    seed: RunSeed = 0

    @model_validator(mode="after")
    def _runs_are_possible(self) -> Self:
        self.specs()
        return self

    def specs(self) -> list[RunSpec]:
        """Return one run a rank. alpha grows with the rank, so that alpha / r, the update's scale, stays the same."""
        return [spec_of(self, rank=rank, alpha=2.0 * rank) for rank in self.ranks]
