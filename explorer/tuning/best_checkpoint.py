"""Keeps the best evaluation so far, with the weights at that step: a run may end with these instead of its last."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from explorer.tasks.metrics import LOSS

_PROGRESS = "best"
_NUMBERS = "best."


@dataclass(frozen=True)
class Best:
    """An evaluation. step: of the training. score: the leading metric, -inf if undefined. loss: on the same rows.
    numbers: the trained weights at that step.
    """

    step: int
    score: float
    loss: float
    numbers: Mapping[str, Tensor]

    def state(self) -> dict[str, Tensor]:
        """Return the evaluation as tensors, for a checkpoint."""
        # float64 holds a step and a loss without rounding.
        about = torch.tensor([self.step, self.score, self.loss], dtype=torch.float64)
        return {_PROGRESS: about, **{_NUMBERS + name: value for name, value in self.numbers.items()}}


def better(
    best: Best | None,
    step: int,
    found: Mapping[str, float | None],
    metric: str,
    numbers: Callable[[], Mapping[str, Tensor]],
) -> Best:
    """Return the better of the best so far and a new evaluation: by the metric, on a tie by the lower loss, else the
    earlier one.
    """
    score, loss = found.get(metric), found.get(LOSS)
    rank = (-math.inf if score is None else score, -(math.inf if loss is None else loss))
    if best is not None and (best.score, -best.loss) >= rank:
        return best
    return Best(step, rank[0], -rank[1], numbers())  # copied only when it wins


def from_state(kept: Mapping[str, Tensor]) -> Best | None:
    """Read the evaluation from a result of `state`; None if the checkpoint has none."""
    if _PROGRESS not in kept:
        return None
    step, score, loss = kept[_PROGRESS].tolist()
    numbers = {name.removeprefix(_NUMBERS): value for name, value in kept.items() if name.startswith(_NUMBERS)}
    return Best(int(step), score, loss, numbers)
