"""What one layer of a model is made of: plain data."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.models.layer_sizes import LayerSizes
from explorer.params import params


@params
class LayerParams:
    """A layer of the model; all of them have the same parts."""


@dataclass(frozen=True)
class LayerResult:
    """One layer of a model."""

    model: str
    sizes: LayerSizes
