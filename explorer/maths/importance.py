"""How much a part of a model matters, from the gradients of gates and weights; plain tensors, no model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Sums:
    """What is kept of a batch's examples, so that batches can be added up.

    absolute: the sum of |g| over the examples. squares: the sum of g². Both have one entry a unit. count: examples.
    """

    absolute: Tensor
    squares: Tensor
    count: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.absolute + other.absolute, self.squares + other.squares, self.count + other.count)


def sums(gradients: Tensor) -> Sums:
    """Of the gates' gradients, (examples, ...): the absolute value of each example's own, then the sum.

    Taking it per example matters: gradients of different sign would cancel in a batch's (Michel et al. 2019, section 4.1).
    """
    gradients = gradients.double()
    return Sums(gradients.abs().sum(0), gradients.square().sum(0), len(gradients))


def mean_and_error(of: Sums) -> tuple[Tensor, Tensor]:
    """I = E|g| and the standard error of that mean; the error is no number (nan) for one example."""
    mean = of.absolute / of.count
    if of.count < 2:
        return mean, torch.full_like(mean, torch.nan)
    variance = (of.squares - of.count * mean.square()).clamp_min(0) / (of.count - 1)
    return mean, (variance / of.count).sqrt()


def normalised(mean: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Both divided by the l2 norm of their row of means, a row a layer (Michel et al. 2019, section 4.1)."""
    norms = mean.norm(dim=-1, keepdim=True)
    norms = torch.where(norms == 0, torch.ones_like(norms), norms)
    return mean / norms, error / norms


def agreement(parts: Sequence[Sums]) -> tuple[tuple[int, float], ...]:
    """(n, ρ): Spearman's correlation of the importance from the first n examples with that from all the others.

    The two share no example, so that a high ρ is no artefact; n grows by batches up to half of all.
    """
    found = []
    for count in range(1, len(parts)):
        first, others = sum(parts[1:count], parts[0]), sum(parts[count + 1 :], parts[count])
        if first.count > others.count:
            break
        found.append((first.count, rank_correlation(first.absolute.flatten(), others.absolute.flatten())))
    return tuple(found)


def rank_correlation(one: Tensor, other: Tensor) -> float:
    """Spearman's ρ of two vectors, equal values sharing their mean rank; 0 where one of the two is constant."""
    from scipy.stats import spearmanr

    if one.unique().numel() < 2 or other.unique().numel() < 2:
        return 0.0
    return float(spearmanr(one, other).statistic)


def magnitude(weight: Tensor) -> Tensor:
    """|w|, the oldest score of a single weight (Han et al. 2015)."""
    return weight.abs()


def first_order(weight: Tensor, gradient: Tensor) -> Tensor:
    """|w · dL/dw|: how much the loss changes, to first order, when the weight becomes 0 (Molchanov et al. 2017).

    It is |dL/dξ| of a gate ξ on the weight, so it is to weights what I is to heads.
    """
    return (weight * gradient).abs()


def movement(weight: Tensor, gradient: Tensor) -> Tensor:
    """-w · dL/dw of one training step, to be summed over steps: positive where training moves the weight away from 0.

    Sanh et al. 2020, "Movement Pruning", section 3; the lowest sums go first.
    """
    return -weight * gradient


def lowest(scores: Tensor, count: int) -> Tensor:
    """A bool mask of exactly `count` entries of a flat vector: the lowest; of equal ones the first."""
    mask = torch.zeros(scores.shape, dtype=torch.bool, device=scores.device)
    if count <= 0:
        return mask
    if count >= scores.numel():
        return ~mask
    threshold = scores.kthvalue(count).values
    mask = scores < threshold
    equal = (scores == threshold).nonzero().flatten()
    mask[equal[: count - int(mask.sum())]] = True
    return mask
