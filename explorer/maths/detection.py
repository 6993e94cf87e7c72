"""Replaced-token detection: what a generator writes in the blanks, and how well it is found (ELECTRA, Clark et al.
2020, section 2).
"""

from __future__ import annotations

import torch
from torch import Tensor

COLDEST = 1e-6
"""The lowest temperature: lower ones are replaced by it. Its limit at 0 is the likeliest class."""


def sampled(logits: Tensor, generator: torch.Generator, temperature: float = 1.0) -> Tensor:
    """Draw one class a row from softmax(logits / temperature): logits (rows, classes); (rows,) on the CPU."""
    logits = logits.float()
    below_best = logits - logits.amax(-1, keepdim=True)  # so that a small temperature makes no number too large
    cumulative = (below_best / max(temperature, COLDEST)).softmax(-1).cumsum(-1).cpu()
    # The inverse of the distribution function takes one random number a row.
    draw = torch.rand(len(logits), 1, generator=generator) * cumulative[:, -1:]
    return torch.searchsorted(cumulative, draw, right=True).squeeze(1).clamp(max=logits.shape[-1] - 1)


def auc(scores: Tensor, replaced: Tensor) -> float | None:
    """Return the area under the ROC curve: the chance that a replaced token scores above an original one, ties counting
    half.

    scores, replaced (booleans): (tokens,). None if all tokens are of one kind.
    """
    found, others = int(replaced.sum()), int((~replaced).sum())
    if not found or not others:
        return None
    _, places, counts = scores.double().unique(return_inverse=True, return_counts=True)
    ranks = (counts.cumsum(0) - (counts.double() - 1) / 2)[places]  # from 1; equal scores share the mean of theirs
    # The rank sum of Mann and Whitney: AUC without drawing the curve.
    return float((ranks[replaced].sum() - found * (found + 1) / 2) / (found * others))


def roc(scores: Tensor, replaced: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return each score as a threshold, from the largest down: (thresholds,), and the shares of replaced and of
    original tokens that score as much or more.

    The share of no tokens is 0.
    """
    thresholds, places = scores.double().unique(return_inverse=True)
    shares = [
        torch.bincount(places[kind], minlength=len(thresholds)).flip(0).cumsum(0) / kind.sum().clamp(min=1)
        for kind in (replaced, ~replaced)
    ]
    return thresholds.flip(0), *shares
