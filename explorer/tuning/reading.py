"""A run's rows through its model: in which precision, and what its outputs mean in the task's own unit."""

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
    """A regression is trained on (score - mean) / spread, so that any unit works; a classification uses 0 and 1."""

    mean: float = 0.0
    spread: float = 1.0

    @classmethod
    def of(cls, labels: Tensor, task: Task) -> Scale:
        """From the training labels, (rows,)."""
        if not task.is_regression:
            return cls()
        spread = float(labels.std(correction=0))
        return cls(float(labels.mean()), spread if spread > 0 else 1.0)


def has_bfloat16(device: torch.device) -> bool:
    """Whether the processor multiplies matrices in bfloat16 by itself; where it doesn't, float32 is quicker."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    if device.type != "cpu":
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def precision(device: torch.device, architecture: Architecture | None = None) -> AbstractContextManager[object]:
    """bfloat16 matrix products where the processor has them and the family's code can; everything else stays in float32."""
    quick = has_bfloat16(device) and (architecture is None or architecture.half_precision)
    return torch.autocast(device.type, dtype=torch.bfloat16) if quick else nullcontext()


class Reader:
    """Logits of a run's rows. Where the body never changes, what the head reads of each row is computed once and kept."""

    def __init__(self, adapted: Adapted, device: torch.device) -> None:
        self.adapted, self.device = adapted, device
        self._features: dict[int, tuple[Rows, Tensor]] = {}

    def logits(self, rows: Rows, places: Sequence[int], stopped: Callable[[], bool] = never) -> Tensor:
        """(places, outputs), with a graph where gradients are on."""
        if not self.adapted.frozen_body:
            return self.adapted.logits(rows.batch(places, self.device)[0])
        if id(rows) not in self._features:
            with precision(self.device, self.adapted.bundle.architecture):
                self._features[id(rows)] = (rows, self._in_order(rows, rows.lengths, self.adapted.body_output, stopped))
        return self.adapted.head(self._features[id(rows)][1][list(places)])

    def all_logits(self, rows: Rows, count: int | None = None, stopped: Callable[[], bool] = never) -> Tensor:
        """Of the first `count` rows (all where None), (rows, outputs), float32 on the CPU. Raises StoppedError."""
        self.adapted.eval()
        if self.adapted.frozen_body:
            with torch.no_grad():
                return self.logits(rows, range(len(rows.lengths[:count])), stopped).float().cpu()
        with precision(self.device, self.adapted.bundle.architecture):
            return self._in_order(rows, rows.lengths[:count], self.adapted.logits, stopped).float().cpu()

    @torch.no_grad()
    def _in_order(
        self,
        rows: Rows,
        lengths: np.ndarray,
        read: Callable[[dict[str, Tensor]], Tensor],
        stopped: Callable[[], bool],
    ) -> Tensor:
        """One output a row, in the rows' order, though rows of like length are read together."""
        parts, places = [], []
        for batch in unless_stopped(ordered_batches(lengths), stopped):
            parts.append(read(rows.batch(batch, self.device)[0]).float())
            places += batch
        return torch.cat(parts)[torch.argsort(torch.tensor(places)).to(parts[0].device)]


def predict(adapted: Adapted, rows: Rows, device: torch.device, count: int | None = None) -> Tensor:
    """Logits of the first `count` rows (all where None), (rows, outputs), float32 on the CPU, in the rows' order."""
    return Reader(adapted, device).all_logits(rows, count)


def decide(task: Task, logits: Tensor, scale: Scale) -> list[float]:
    """The predicted class numbers, or scores in the task's own unit."""
    if task.is_regression:
        return (logits[:, 0].double() * scale.spread + scale.mean).tolist()
    return [float(number) for number in logits.argmax(-1).tolist()]
