"""Counts the heads and neurons of a model, and tells whether they can be removed."""

from __future__ import annotations

from transformers import PreTrainedModel

from explorer.compress.cuts import Shape
from explorer.models.families import Architecture
from explorer.models.inside import depth_of, heads_of, modules_with_role, neurons_of


def shape_of(model: PreTrainedModel, architecture: Architecture) -> Shape:
    """Return the numbers of a whole model's parts."""
    blocks = len(modules_with_role(model, architecture, "output"))
    return Shape(depth_of(model), blocks, heads_of(model), neurons_of(model))


def why_not_removed(model: PreTrainedModel, architecture: Architecture) -> str | None:
    """Return why heads can be masked in a model and not removed; None if they can be removed."""
    switch = architecture.layout.mixes_heads
    if switch and getattr(model.config, switch, False):
        return f"this model mixes its heads with each other ({switch} in its config), so no head can be taken out"
    return None
