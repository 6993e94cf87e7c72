"""Attention rollout: how much of each input token reaches a position through all layers, by attention weights alone.

Source: Abnar and Zuidema 2020, section 3: the residual connection is an identity matrix added to a layer's attention,
and the layers are multiplied. It knows neither the values nor the feed-forward parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


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
