"""What can be asked of ΔW."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.backend.runs.examples import FIRST, OTHER_RANK
from explorer.errors import BadInputError
from explorer.tuning.spec import RunSpec

MOST_RANKS = 10


@dataclass(frozen=True)
class SpectrumParams:
    """A run, and the training step to look at: 0 for the last."""

    run: str = FIRST
    step: int = 0

    def __post_init__(self) -> None:
        """Raise BadInputError where no run is named or the step is no step."""
        _require_run(self.run)
        object.__setattr__(self, "step", _whole("step", self.step, 0))


@dataclass(frozen=True)
class SubspaceParams:
    """Two runs, and one matrix of one layer (layers count from 0)."""

    run_a: str = FIRST
    run_b: str = OTHER_RANK
    layer: int = 0
    module: str = "query"

    def __post_init__(self) -> None:
        """Raise BadInputError where a run is missing."""
        _require_run(self.run_a)
        _require_run(self.run_b)
        object.__setattr__(self, "layer", _whole("layer", self.layer, 0))


@dataclass(frozen=True)
class AmplificationParams:
    """A run, one matrix of one layer, and how many of ΔW's directions."""

    run: str = FIRST
    layer: int = 0
    module: str = "query"
    r: int = 4

    def __post_init__(self) -> None:
        """Raise BadInputError where the run is missing or a number is none."""
        _require_run(self.run)
        object.__setattr__(self, "layer", _whole("layer", self.layer, 0))
        object.__setattr__(self, "r", _whole("r", self.r, 1))


@dataclass(frozen=True)
class FactorsParams:
    """Two runs of one model, one module, all layers."""

    run_a: str = FIRST
    run_b: str = OTHER_RANK
    module: str = "query"
    r: int = 4

    def __post_init__(self) -> None:
        """Raise BadInputError where a run is missing or a number is none."""
        _require_run(self.run_a)
        _require_run(self.run_b)
        object.__setattr__(self, "r", _whole("r", self.r, 1))


@dataclass(frozen=True)
class PlacementParams:
    """A run and one matrix of one layer."""

    run: str = FIRST
    layer: int = 0
    module: str = "query"

    def __post_init__(self) -> None:
        """Raise BadInputError where the run is missing."""
        _require_run(self.run)
        object.__setattr__(self, "layer", _whole("layer", self.layer, 0))


@dataclass(frozen=True)
class FollowDeltaParams:
    """A run whose ΔW is redrawn as it trains."""

    run: str = FIRST

    def __post_init__(self) -> None:
        """Raise BadInputError where no run is named."""
        _require_run(self.run)


@dataclass(frozen=True)
class ExperimentParams:
    """LoRA and full fine-tuning on the same examples, compared in r directions of each update."""

    model: str
    task: str = "sst2"
    module: str = "query"
    r: int = 4
    epochs: int = 3
    batch_size: int = 16
    examples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Check as the two runs would be."""
        object.__setattr__(self, "r", _whole("r", self.r, 1))
        self.specs()

    def specs(self) -> tuple[RunSpec, RunSpec]:
        """The two runs; LoRA's rank is at least r."""
        shared = {"epochs": self.epochs, "batch_size": self.batch_size, "examples": self.examples, "seed": self.seed}
        lora = RunSpec(self.model, self.task, "lora", rank=max(8, self.r), targets=(self.module,), **shared)  # type: ignore[arg-type]
        return lora, RunSpec(self.model, self.task, "full", **shared)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SweepParams:
    """LoRA at several ranks, alpha = 2 r, everything else alike."""

    model: str
    task: str = "sst2"
    ranks: tuple[int, ...] = (1, 2, 4, 8, 64)
    targets: tuple[str, ...] = ("query", "value")
    epochs: int = 3
    batch_size: int = 16
    examples: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """Accept a comma-separated text, then check every rank as a run would."""
        ranks = self.ranks.split(",") if isinstance(self.ranks, str) else self.ranks or ()
        object.__setattr__(self, "ranks", tuple(_whole("rank", rank, 1) for rank in ranks))
        if not 1 <= len(self.ranks) <= MOST_RANKS or len(set(self.ranks)) < len(self.ranks):
            raise BadInputError(f"Give 1 to {MOST_RANKS} different ranks, such as 1, 2, 4, 8, 64.")
        object.__setattr__(self, "targets", self.specs()[0].targets)

    def specs(self) -> list[RunSpec]:
        """One run a rank. alpha grows with the rank, so that alpha / r, the update's scale, stays the same."""
        return [
            RunSpec(
                self.model,
                self.task,
                rank=rank,
                alpha=2.0 * rank,
                targets=self.targets,
                epochs=self.epochs,
                batch_size=self.batch_size,
                examples=self.examples,
                seed=self.seed,
            )
            for rank in self.ranks
        ]


def _whole(name: str, value: object, least: int) -> int:
    try:
        number = int(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if number < least:
        raise BadInputError(f"{name} must be a whole number, {least} or more; got {str(value)[:40]!r}.")
    return number


def _require_run(run: object) -> None:
    if not isinstance(run, str) or not run:
        raise BadInputError("Choose a run first; the Fine-tune page trains one.")
