"""What can be read off a model's states: angles between vectors, vectors in a plane, and linear probes, that is what a linear
function can read (Alain and Bengio 2017; Hewitt and Liang 2019).
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


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


LIKE_NOTHING = 1e-6
"""Of a deviation: below it a dimension says nothing."""

STEPS, GRADIENT = 400, 1e-5
"""L-BFGS ends after so many steps, or once no entry of the gradient is larger. Held-out words are then labelled as an exact
solution would label them; tests compare with scikit-learn's."""


def standardised(training: Tensor, held_out: Tensor) -> tuple[Tensor, Tensor]:
    """Return both, (n, width) each, with mean 0 and deviation 1 of the training states in each dimension."""
    mean, deviation = training.mean(0), training.std(0, correction=0)
    deviation = torch.where(deviation > LIKE_NOTHING, deviation, torch.ones_like(deviation))
    return (training - mean) / deviation, (held_out - mean) / deviation


def fitted(states: Tensor, labels: Tensor, classes: int, penalty: float) -> tuple[Tensor, Tensor]:
    """Return W (width, classes) and b (classes,) of multinomial logistic regression.

    states: (n, width), standardised. labels: (n,) from 0. It minimises the mean cross-entropy plus penalty / 2 · ‖W‖²;
    with a penalty above 0 there is one solution, which no seed changes.
    """
    with torch.inference_mode(False), torch.enable_grad():
        states, labels = states.clone(), labels.clone()  # a gradient needs them outside of inference mode
        weight = torch.zeros(states.shape[1], classes, dtype=states.dtype, requires_grad=True)
        bias = torch.zeros(classes, dtype=states.dtype, requires_grad=True)
        solver = torch.optim.LBFGS(
            [weight, bias], max_iter=STEPS, tolerance_grad=GRADIENT, tolerance_change=0, line_search_fn="strong_wolfe"
        )

        def loss() -> float:
            solver.zero_grad()
            found = cross_entropy(states @ weight + bias, labels) + penalty / 2 * weight.square().sum()
            found.backward()
            return float(found.detach())

        solver.step(loss)
    return weight.detach(), bias.detach()
