"""Sets single weights to 0: the model keeps its shape, and its file its size."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from transformers import PreTrainedModel

from explorer.compress.between import with_weights
from explorer.compress.importance import matrices_of
from explorer.compress.subject import Subject
from explorer.maths.importance import lowest

Masks = dict[str, Tensor]
"""True where a weight is removed, by the name of its matrix's parameter."""


@torch.no_grad()
def weights_gone(
    subject: Subject,
    scores: Mapping[tuple[int, str], Tensor],
    share: float,
    order: str = "least",
    seed: int = 0,
    before: Mapping[str, Tensor] | None = None,
) -> Masks:
    """Choose which of the layers' weights go, so that a share of them is gone.

    before: what is gone already, and stays so whatever its score is now.
    """
    names = {f"{name}.weight": place for place, name in matrices_of(subject, subject.model).items()}
    # One threshold over all matrices: the lowest scores of the whole model go, wherever they are.
    flat = torch.cat([scores[place].flatten() for place in names.values()])
    if order == "random":
        flat = torch.rand(flat.shape, generator=torch.Generator().manual_seed(seed)).to(flat.device)
    elif order == "most":
        flat = -flat
    if before:
        flat = flat.masked_fill(torch.cat([before[name].flatten() for name in names]), -torch.inf)
    gone = lowest(flat, round(share * flat.numel())).split([scores[place].numel() for place in names.values()])
    return {name: part.view_as(scores[place]) for (name, place), part in zip(names.items(), gone, strict=True)}


@torch.no_grad()
def zeroed(subject: Subject, gone: Masks) -> dict[str, Tensor]:
    """Return the matrices of a subject's model with these weights at 0."""
    return {name: subject.model.get_parameter(name).detach().masked_fill(mask, 0.0) for name, mask in gone.items()}


def without_weights(subject: Subject, gone: Masks) -> PreTrainedModel:
    """Return the model with these weights at 0, in modules of its own."""
    return with_weights(subject, zeroed(subject, gone))


def share_gone(gone: Masks) -> float:
    """Return the share of the matrices' weights that is gone."""
    return sum(int(mask.sum()) for mask in gone.values()) / sum(mask.numel() for mask in gone.values())
