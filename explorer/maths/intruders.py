"""Intruder dimensions: strong directions of W + ΔW that W did not have (Shuttleworth et al. 2024, LoRA vs Full
Fine-tuning).

A matrix is (d, k); its left-singular vectors are the columns of U, strongest first.
"""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.maths.spectra import Svd, random_directions

_DRAWN = 64
"""Random directions over which chance is averaged."""


def cosines(updated: Svd, weight: Svd, k: int) -> Tensor:
    """Return |cos| of each of the first k left-singular vectors of W + ΔW with every one of W's, (k, m) in [0, 1].

    k may exceed m, the number of either's directions; there are then m rows.
    """
    return (updated.U[:, :k].double().mT @ weight.U.double()).abs().clamp(max=1)


def largest(found: Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest cosine of each row, (k,), and the index of W's direction that has it, (k,), from `cosines`, (k, m)."""
    best = found.max(-1)
    return best.values, best.indices


def count_intruders(largest_cosines: Tensor, epsilon: float) -> int:
    """Return how many directions are intruders: all of W's are further from them than |cos| = epsilon."""
    return int((largest_cosines < epsilon).sum())


def chance(weight: Svd) -> float:
    """Return the largest |cos| of a random direction with W's, on average over seeded draws."""
    drawn = random_directions(len(weight.U), min(_DRAWN, len(weight.U)), torch.Generator().manual_seed(0))
    return float((drawn.mT @ weight.U.double()).abs().max(-1).values.mean())
