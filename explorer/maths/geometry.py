"""Angles between vectors, and vectors in a plane."""

from __future__ import annotations

import torch
from torch import Tensor


def cosines(vectors: Tensor) -> Tensor:
    """Return the cosine of each two vectors: (n, width) to (n, n), in double precision; 0 for a vector of zeros."""
    unit = torch.nn.functional.normalize(vectors.double(), dim=-1)
    return (unit[:, None] * unit[None]).sum(-1).clamp(-1, 1)  # a matrix product is not symmetric to the last bit


def pairwise(first: Tensor, second: Tensor) -> Tensor:
    """Return the cosine of each row of one with the same row of the other: (n, width) twice to (n,)."""
    return torch.nn.functional.cosine_similarity(first.double(), second.double(), dim=-1)


def principal_plane(vectors: Tensor, before: Tensor | None) -> tuple[Tensor, tuple[float, float]]:
    """Return coordinates along the two principal components, (n, 2), and the shares of the variance that these explain.

    A component's sign is arbitrary: here it is the one with which the points lie nearer to `before`, the plane of the
    layer below, or, if that says nothing, the one with which the point furthest out is positive.
    """
    centred = vectors.double() - vectors.double().mean(0)
    left, scale, _ = torch.linalg.svd(centred, full_matrices=False)
    scale = torch.where(scale > 1e-5 * vectors.double().norm(), scale, 0.0)  # float32 rounding is no direction
    plane = torch.zeros(len(vectors), 2, dtype=torch.float64)
    kept = min(2, len(scale))
    plane[:, :kept] = left[:, :kept] * scale[:kept]
    for axis in range(2):
        agreement = float(plane[:, axis] @ before[:, axis]) if before is not None else 0.0
        if not agreement:
            agreement = float(plane[plane[:, axis].abs().argmax(), axis])
        if agreement < 0:
            plane[:, axis] *= -1
    total = float(scale.square().sum())
    shares = [float(value.square()) / total if total else 0.0 for value in scale[:kept]]
    first, second = [*shares, 0.0][:2]
    return plane, (first, second)
