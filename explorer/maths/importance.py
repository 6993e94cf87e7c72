"""Importance of a model's parts, from the gradients of gates and weights; plain tensors, no model.

torch is needed for its types alone, so that a page can list the scores without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Sums:
    """Sums over a batch's examples, so that batches can be added up.

    absolute: the sum of |g| over the examples. squares: the sum of g². Both have one entry a unit. count: examples.
    """

    absolute: Tensor
    squares: Tensor
    count: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.absolute + other.absolute, self.squares + other.squares, self.count + other.count)


def sums(gradients: Tensor) -> Sums:
    """Sum the gates' gradients, (examples, ...), over the examples."""
    # The absolute value of each example's own: gradients of different sign would cancel in a batch's (Michel et al.
    # 2019, section 4.1).
    gradients = gradients.double()
    return Sums(gradients.abs().sum(0), gradients.square().sum(0), len(gradients))


def mean_and_error(of: Sums) -> tuple[Tensor, Tensor]:
    """Return I = E|g| and the standard error of that mean; the error is nan for one example."""
    mean = of.absolute / of.count
    if of.count < 2:
        return mean, mean.new_full(mean.shape, math.nan)
    # Rounding may give a variance a little below 0.
    variance = (of.squares - of.count * mean.square()).clamp_min(0) / (of.count - 1)
    return mean, (variance / of.count).sqrt()


def normalised(mean: Tensor, error: Tensor) -> tuple[Tensor, Tensor]:
    """Divide both by the l2 norm of their row of means, a row a layer (Michel et al. 2019, section 4.1)."""
    norms = mean.norm(dim=-1, keepdim=True)
    norms = norms.masked_fill(norms == 0, 1.0)
    return mean / norms, error / norms


def agreement(parts: Sequence[Sums]) -> tuple[tuple[int, float], ...]:
    """Return (n, ρ): Spearman's correlation of the importance from the first n examples with that from all the others.

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
    """Return Spearman's ρ of two vectors, equal values sharing their mean rank; 0 if one of the two is constant."""
    from scipy.stats import spearmanr

    if one.unique().numel() < 2 or other.unique().numel() < 2:
        return 0.0
    return float(spearmanr(one, other).statistic)


def magnitude(weight: Tensor) -> Tensor:
    """Return |w|, the oldest score of a single weight (Han et al. 2015)."""
    return weight.abs()


def first_order(weight: Tensor, gradient: Tensor) -> Tensor:
    """Return |w · dL/dw|: how much the loss changes, to first order, when the weight becomes 0 (Molchanov et al. 2017).

    It is |dL/dξ| of a gate ξ on the weight, so it is to weights what I is to heads.
    """
    return (weight * gradient).abs()


def movement(weight: Tensor, gradient: Tensor) -> Tensor:
    """Return -w · dL/dw of one training step, to be summed over steps: positive if training moves the weight away from
    0.

    Source: Sanh et al. 2020, "Movement Pruning", section 3; the lowest sums go first.
    """
    return -weight * gradient


def lowest(scores: Tensor, count: int) -> Tensor:
    """Return a bool mask of exactly `count` entries of a flat vector: the lowest; among equal ones the first."""
    mask = scores.new_zeros(scores.shape).bool()
    if count <= 0:
        return mask
    if count >= scores.numel():
        return ~mask
    threshold = scores.kthvalue(count).values
    mask = scores < threshold
    equal = (scores == threshold).nonzero().flatten()  # ties at the threshold: as many of them as are missing
    mask[equal[: count - int(mask.sum())]] = True
    return mask


@dataclass(frozen=True)
class Score:
    """A way to measure how much parts matter."""

    slug: str
    title: str
    explanation: str
    """A clause that begins with the name, in Markdown."""
    units: tuple[str, ...]
    """The units that have it: head, neuron, both of them, layer, weight."""
    of_units: Callable[[Sums], tuple[Tensor, Tensor]] | None = None
    """Returns the importance of heads, neurons or layers and its standard error, from the gradients of their gates."""
    of_weights: Callable[[Tensor], Tensor] | None = None
    """Returns the scores of single weights, from the weights alone."""
    of_gradients: Callable[[Tensor, Tensor], Tensor] | None = None
    """Returns the scores of single weights, from the weights and the gradient of a batch's mean loss by them; the mean
    over batches is taken.
    """
    while_training: bool = False
    """Whether `of_gradients` is summed over plain gradient steps instead, in copies of the weights."""
    note: str = ""
    """The note below the scores of weights."""
    in_scripts: bool = False
    """Whether the scripts without the package have it too."""

    @property
    def reads_examples(self) -> bool:
        """Whether it runs the model on examples."""
        return self.of_weights is None


_ENTRIES = (
    Score(
        "gradient",
        "gradient: |∂L/∂ξ|, or |w ∂L/∂w|",
        r"**gradient** is that of a gate; a gate on a single weight gives $|w\,\partial\mathcal{L}/\partial w|$, here the mean "
        "over batches of 16",
        ("head", "neuron", "both", "layer", "weight"),
        of_units=mean_and_error,
        of_gradients=first_order,
        in_scripts=True,
    ),
    Score(
        "normalised",
        "gradient, each layer's l2 norm 1",
        "**normalised** divides a layer's by their $l_2$ norm",
        ("head", "neuron", "both"),
        of_units=lambda found: normalised(*mean_and_error(found)),
        in_scripts=True,
    ),
    Score(
        "magnitude",
        "magnitude |w|",
        "**magnitude** is $|w|$ and reads no example (Han et al. 2015)",
        ("weight",),
        of_weights=magnitude,
    ),
    Score(
        "movement",
        "movement −w ∂L/∂w",
        r"**movement** sums $-w\,\partial\mathcal{L}/\partial w$ over plain gradient steps of rate 0.001 (Sanh et al. 2020)",
        ("weight",),
        of_gradients=movement,
        while_training=True,
        note="A negative sum: training moves these weights towards 0.",
    ),
)
"""The scores in the order of the page's list. To add one, add its entry here."""

SCORES = {score.slug: score for score in _ENTRIES}
