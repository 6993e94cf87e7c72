"""Attention heads in numbers: statistics of each, and rollout, that is how much of each input token reaches a position through
all layers, by attention weights alone.

Rollout is from Abnar and Zuidema 2020, section 3: the residual connection is an identity matrix added to a layer's attention,
and the layers are multiplied. It knows neither the values nor the feed-forward parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

STATISTICS = ("entropy", "distance", "to_first", "to_separator", "to_previous", "to_next", "to_itself")


def head_statistics(weights: Tensor, separators: Sequence[int]) -> dict[str, Tensor]:
    """Return the means over the rows of each head's attention, by the names in STATISTICS.

    weights: (heads, length, length), rows that sum to 1. separators: the positions of [SEP]; without any,
    `to_separator` is left out. Returns (heads,) each: the entropy in bits (0 for a row that looks at one token, log2
    length for one that looks at all alike), the distance |i - j| in tokens, and shares in [0, 1]. The shares to the
    previous and to the next token are over the rows that have one. (Clark et al. 2019, sections 3.1 to 3.3, look at
    heads in the same ways.)
    """
    length = weights.shape[-1]
    places = torch.arange(length, dtype=weights.dtype, device=weights.device)
    apart = (places[:, None] - places[None, :]).abs()
    found = {
        "entropy": torch.special.entr(weights).sum(-1).mean(-1) / torch.log(torch.tensor(2.0)),  # from nats to bits
        "distance": (weights * apart).sum(-1).mean(-1),
        "to_first": weights[:, :, 0].mean(-1),
        "to_previous": _mean_of_diagonal(weights, -1),
        "to_next": _mean_of_diagonal(weights, 1),
        "to_itself": _mean_of_diagonal(weights, 0),
    }
    if separators:
        found["to_separator"] = weights[:, :, list(separators)].sum(-1).mean(-1)
    return {name: found[name] for name in STATISTICS if name in found}


def _mean_of_diagonal(weights: Tensor, offset: int) -> Tensor:
    """Return the mean of a diagonal, (heads,); 0 if a text is too short to have it."""
    diagonal = weights.diagonal(offset, -2, -1)
    return diagonal.mean(-1) if diagonal.shape[-1] else weights.new_zeros(weights.shape[0])


def rollout(attentions: Sequence[Tensor]) -> list[Tensor]:
    """Return the rollout up to each layer: one (rows, T, T) tensor a layer, float32 at least; every row sums to 1.

    attentions: the layers' weights from the first on, each (rows, heads, T, T). Entry [row, i, j] of the k-th answer is
    the share of input token j in position i after k + 1 layers. Raises ValueError for no layer and for shapes that do
    not fit.
    """
    if not attentions:
        raise ValueError("rollout needs the attention of at least one layer")
    if any(layer.ndim != 4 or layer.shape[-1] != layer.shape[-2] for layer in attentions):
        raise ValueError("rollout takes tensors of the shape (rows, heads, T, T)")
    if len({(layer.shape[0], layer.shape[-1]) for layer in attentions}) > 1:
        raise ValueError("rollout needs layers of one text: their rows and lengths differ")
    flows: list[Tensor] = []
    for layer in attentions:
        mixed = with_residual(layer)
        flows.append(mixed @ flows[-1] if flows else mixed)
    return flows


def with_residual(attention: Tensor) -> Tensor:
    """Return one layer's weights (rows, heads, T, T), averaged over heads, half of them the residual connection's:
    (rows, T, T).
    """
    exact = attention if attention.dtype == torch.float64 else attention.float()
    averaged = exact.mean(1)
    mixed = (averaged + torch.eye(averaged.shape[-1], dtype=averaged.dtype, device=averaged.device)) / 2
    return mixed / mixed.sum(-1, keepdim=True)  # low precision leaves rows a little off a sum of 1
