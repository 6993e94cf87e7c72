"""What a run keeps of its weights on the way: ΔW at some steps, so that a page can redraw any moment of it, and the trained
weights of the best evaluation, with which it may end instead of its last.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from explorer.errors import StorageError, storage_error
from explorer.settings import BUNDLED_RUNS
from explorer.tasks.metrics import LOSS
from explorer.tuning.deltas import Delta, LowRank

DELETE = "Delete the run and train it again."
RESTORE = "It is a worked example: whoever runs the server has to restore it from the repository."
FOLDER = "snapshots"
MOST = 16
"""Snapshots of a run at most: a slider needs no more, and at rank 8 each takes half a megabyte."""


def due(step: int, steps: int) -> bool:
    """Return whether this step is one of the at most MOST that are kept; the first and the last always are."""
    return step in (1, steps) or step % max(1, -(-steps // (MOST - 1))) == 0


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write safetensors so that a reader finds the old file or the new one, never half of one.

    Raises StorageError if the disk does not take it; nothing is left of the attempt.
    """
    half = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file({name: tensor.detach().contiguous() for name, tensor in tensors.items()}, half)
        os.replace(half, path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            half.unlink(missing_ok=True)
        raise storage_error(f"{path.name} of this run", error) from error


def load_tensors(path: Path, so: str) -> dict[str, Tensor]:
    """Read what save_tensors wrote. Raises StorageError with the file's name if it is damaged. so: a sentence on what
    to do then.
    """
    try:
        return load_file(path)
    except FileNotFoundError as error:
        raise StorageError(f"{path.name} of this run is gone. {so}") from error
    except (OSError, SafetensorError, ValueError, KeyError) as error:
        raise StorageError(f"{path.name} of this run is damaged ({str(error)[:100]}). {so}") from error


def save_snapshot(folder: Path, step: int, deltas: Mapping[tuple[int, str], Delta]) -> bool:
    """Keep the low-rank updates of a step. Returns False if the method has none."""
    tensors: dict[str, Tensor] = {}
    for (layer, role), delta in deltas.items():
        if isinstance(delta, LowRank):
            tensors[f"{layer}/{role}/A"], tensors[f"{layer}/{role}/B"] = delta.A, delta.B
            tensors[f"{layer}/{role}/scale"] = torch.tensor(delta.scale, dtype=torch.float64)
    if tensors:
        save_tensors(folder / FOLDER / f"{step:06d}.safetensors", tensors)
    return bool(tensors)


def mended_by(folder: Path) -> str:
    """Return the sentence on what to do if a file of a run is damaged: nobody can delete or train a bundled run."""
    return RESTORE if folder.parent == BUNDLED_RUNS else DELETE


def load_snapshot(folder: Path, step: int) -> dict[tuple[int, str], Delta]:
    """Read what save_snapshot kept. Raises StorageError if the file is damaged or gone."""
    tensors = load_tensors(folder / FOLDER / f"{step:06d}.safetensors", mended_by(folder))
    deltas: dict[tuple[int, str], Delta] = {}
    try:
        for name in tensors:
            layer, role, part = name.split("/")
            if part == "A":
                scale = float(tensors[f"{layer}/{role}/scale"])
                deltas[int(layer), role] = LowRank(tensors[name].float(), tensors[f"{layer}/{role}/B"].float(), scale)
    except (ValueError, KeyError) as error:
        raise StorageError(f"{step:06d}.safetensors of this run holds no ΔW. {mended_by(folder)}") from error
    return dict(sorted(deltas.items()))


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
