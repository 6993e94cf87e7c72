"""Tells which layers are reached by a method that is put on the last ones alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def last_layers(fork: PreTrainedModel, spec: RunSpec) -> range | None:
    """Return the numbers of the last layers that a run trains; None for all layers."""
    depth = int(fork.config.num_hidden_layers)
    return range(depth - spec.last_layers, depth) if spec.last_layers else None


def is_reached(name: str, fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> bool:
    """Return whether an old parameter of this name may be trained: one of the last layers, or of the pooler after them."""
    reached = last_layers(fork, spec)
    return reached is None or layers.layer_of(name) in reached or ".pooler." in name
