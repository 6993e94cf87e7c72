"""Decoding: how a next token is chosen from a model's scores, by truncated sampling or by the steps of a beam search."""

from __future__ import annotations

import torch
from torch import Tensor

COLDEST = 1e-6
"""The lowest temperature: lower ones are replaced by it. Its limit at 0 is the likeliest token."""


def in_top_k(scores: Tensor, k: int) -> Tensor:
    """Return which tokens are among the k likeliest; ties at the border are all included (Fan, Lewis and Dauphin 2018).

    scores: (..., vocabulary), logits or ln p. Returns booleans of the same shape.
    """
    border = scores.topk(min(k, scores.shape[-1]), dim=-1).values[..., -1:]
    return (scores >= border) & (scores > -torch.inf)


def in_top_p(scores: Tensor, p: float) -> Tensor:
    """Return which tokens are in the nucleus: the fewest likeliest ones that hold the share p together (Holtzman et al.
    2020).

    scores: (..., vocabulary), logits or ln p. Returns booleans of the same shape; the likeliest token is always in it.
    """
    shares, order = scores.double().softmax(-1).sort(dim=-1, descending=True, stable=True)
    before = shares.cumsum(-1) - shares
    inside = before < p  # the token that reaches p is still inside
    inside[..., 0] = True
    return torch.zeros_like(inside).scatter(-1, order, inside) & (scores > -torch.inf)


def tempered(scores: Tensor, temperature: float) -> Tensor:
    """Return softmax(scores / T) in double precision: (..., vocabulary)."""
    scores = scores.double()
    below_best = scores - scores.amax(-1, keepdim=True)  # so that a small temperature makes no number too large
    return (below_best / max(temperature, COLDEST)).softmax(-1)


def drawn(shares: Tensor, at: float) -> int:
    """Return the token at a position, from 0 to 1, of the distribution laid out from the likeliest token down. shares:
    (vocabulary,).

    One random number a step then means the same to every decoding: a small one a likely token, one near 1 a token of
    the tail, as far as there is one.
    """
    ordered, order = shares.sort(descending=True, stable=True)
    mass = ordered.cumsum(-1)
    place = int(torch.searchsorted(mass, at * mass[-1], right=True))
    last = int((ordered > 0).sum()) - 1
    return int(order[min(place, last)])  # rounding may point beyond the last token with a probability


def beam_candidates(scores: Tensor, sums: Tensor, count: int) -> list[tuple[float, int, int]]:
    """Return the best continuations: (sum of ln p, which beam, which token), from the best down.

    scores: ln p of the next token, (beams, vocabulary). sums: of each beam so far, (beams,).
    """
    totals = (sums[:, None] + scores).flatten()
    best = totals.topk(min(count, len(totals)))
    width = scores.shape[-1]
    pairs = zip(best.values.tolist(), best.indices.tolist(), strict=True)
    return [(total, place // width, place % width) for total, place in pairs if total > -torch.inf]
