"""Statistics of an attention head, each a single number."""

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
