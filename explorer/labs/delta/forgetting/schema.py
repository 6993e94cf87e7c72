"""Runs of one model, and how well their bodies still guess hidden words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Names
from explorer.params import Shown, params
from explorer.runs.examples import BY_METHOD, FIRST, OTHER_RANK

MOST_RUNS = 12
OPENING = (FIRST, OTHER_RANK, BY_METHOD["bitfit"], BY_METHOD["houlsby"])
"""Two ranks, and two methods of other kinds, all on one task."""


def _some(runs: tuple[str, ...]) -> tuple[str, ...]:
    different = tuple(dict.fromkeys(runs))
    if not 1 <= len(different) <= MOST_RUNS:
        raise BadInputError(f"Choose 1 to {MOST_RUNS} runs of one model; got {len(different)}.")
    return different


@params
class ForgettingParams:
    """Several runs of one model."""

    runs: Annotated[tuple[str, ...], Names(), AfterValidator(_some), Shown("Runs of one model")] = OPENING


@dataclass(frozen=True)
class Estimate:
    """A mean over words and the middle 95% of its bootstrap draws, in each of which whole sentences are drawn again."""

    value: float
    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """Whether chance alone would do."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Remembered:
    """One run. accuracy, loss: of hidden words; the changes are from before, on the same words.

    score: on its own task, by the leading metric, `metric`; None if it is not known.
    """

    name: str
    method: str
    metric: str
    score: float | None
    accuracy: Estimate
    loss: Estimate
    accuracy_change: Estimate
    loss_change: Estimate


@dataclass(frozen=True)
class ForgettingResult:
    """accuracy, loss: of the model before any run. left_out: (run, why it has no before and after). wanted: how many runs there
    are to be. sentences, words: what is measured on."""

    model: str
    sentences: int
    words: int
    accuracy: Estimate
    loss: Estimate
    runs: tuple[Remembered, ...]
    left_out: tuple[tuple[str, str], ...]
    wanted: int


def require_a_run(result: ForgettingResult) -> None:
    """Raise BadInputError with the reason if no run could be measured."""
    if not result.runs and result.left_out:
        name, reason = result.left_out[0]
        raise BadInputError(f"{name}: {reason}")
