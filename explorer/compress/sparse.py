"""Single weights set to 0: the model keeps its shape, and its file its size."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from explorer.compress.importance import matrices_of
from explorer.compress.subject import Subject
from explorer.maths.importance import lowest


@torch.no_grad()
def without_weights(
    subject: Subject, scores: Mapping[tuple[int, str], Tensor], share: float, order: str = "least", seed: int = 0
) -> tuple[PreTrainedModel, int]:
    """The model with a share of its layers' weights at 0, and how many of them are left.

    One threshold over all matrices: those with the lowest scores of the whole model go, wherever they are.
    """
    tree = subject.tree()
    names = matrices_of(subject, tree)
    flat = torch.cat([scores[place].flatten() for place in names])
    if order == "random":
        flat = torch.rand(flat.shape, generator=torch.Generator().manual_seed(seed)).to(flat.device)
    gone = lowest(-flat if order == "most" else flat, round(share * flat.numel()))
    start = 0
    for name in names.values():
        module = tree.get_submodule(name)
        weight = module.get_parameter("weight").detach()
        part = gone[start : start + weight.numel()].view_as(weight)
        module._parameters["weight"] = nn.Parameter(weight.masked_fill(part, 0.0), requires_grad=False)
        start += weight.numel()
    return tree, int((~gone).sum())
