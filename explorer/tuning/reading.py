"""Reads a run's rows with its model: in which precision, and what its outputs mean in the task's own unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from explorer.models.families import Architecture
from explorer.tasks.task import Task
from explorer.tuning.adapted import Adapted
from explorer.tuning.rows import Rows, never, ordered_batches, unless_stopped


@dataclass(frozen=True)
class Scale:
    """The unit of a regression: it is trained on (score - mean) / spread, so that any unit works; a classification has
    0 and 1.
    """

    mean: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, labels: Tensor, task: Task) -> Scale:
        """Take the scale from the training labels, (rows,)."""
        if not task.is_regression:
            return cls()
        spread = float(labels.std(correction=0))
        return cls(float(labels.mean()), spread if spread > 0 else 1.0)  # all scores may be equal


def has_bfloat16(device: torch.device) -> bool:
    """Return whether the processor multiplies matrices in bfloat16 by itself; if it doesn't, float32 is faster."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    if device.type != "cpu":
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def precision(device: torch.device, architecture: Architecture | None = None) -> AbstractContextManager[object]:
    """Return a context with matrix products in bfloat16 if the processor has it and the family's code can use it;
    everything else stays in float32.
    """
    quick = has_bfloat16(device) and (architecture is None or architecture.half_precision)
    return torch.autocast(device.type, dtype=torch.bfloat16) if quick else nullcontext()


class Reader:
    """Computes logits of a run's rows. If the body never changes, what the head reads of each row is computed once and kept."""

    def __init__(self, adapted: Adapted, device: torch.device) -> None:
        self.adapted, self.device = adapted, device
        self._features: dict[int, tuple[Rows, Tensor]] = {}

    def logits(self, rows: Rows, places: Sequence[int], stopped: Callable[[], bool] = never) -> Tensor:
        """Return (places, outputs), with a graph if gradients are on."""
        if not self.adapted.frozen_body:
            return self.adapted.logits(rows.batch(places, self.device)[0])
        if id(rows) not in self._features:
            with precision(self.device, self.adapted.loaded.architecture):
                # Rows are kept too, so that no other object can take over their id.
                self._features[id(rows)] = (rows, self._in_order(rows, rows.lengths, self.adapted.body_output, stopped))
        return self.adapted.head(self._features[id(rows)][1][list(places)])

    def all_logits(self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never) -> Tensor:
        """Return the logits of the first `count` rows (all if None), (rows, outputs), float32 on the CPU. Raises
        StoppedError.
        """
        self.adapted.eval()
        if self.adapted.frozen_body:
            with torch.no_grad():
                return self.logits(rows, range(len(rows.lengths[:count])), stopped).float().cpu()
        with precision(self.device, self.adapted.loaded.architecture):
            return self._in_order(rows, rows.lengths[:count], self.adapted.logits, stopped).float().cpu()

    @torch.no_grad()
    def _in_order(
        self,
        rows: Rows,
        lengths: np.ndarray,
        read: Callable[[dict[str, Tensor]], Tensor],
        stopped: Callable[[], bool],
    ) -> Tensor:
        """Return one output a row, in the rows' order, though rows of like length are read together."""
        parts, places = [], []
        for batch in unless_stopped(ordered_batches(lengths), stopped):
            parts.append(read(rows.batch(batch, self.device)[0]).float())
            places += batch
        return torch.cat(parts)[torch.argsort(torch.tensor(places)).to(parts[0].device)]


def predict(adapted: Adapted, rows: Rows, device: torch.device, count: int | None = None) -> Tensor:
    """Return the logits of the first `count` rows (all if None), (rows, outputs), float32 on the CPU, in the rows' order."""
    return Reader(adapted, device).all_logits(rows, count)


def decide(task: Task, logits: Tensor, scale: Scale) -> list[float]:
    """Return the predicted class numbers, or scores in the task's own unit."""
    if task.is_regression:
        return (logits[:, 0].double() * scale.spread + scale.mean).tolist()
    return [float(number) for number in logits.argmax(-1).tolist()]
