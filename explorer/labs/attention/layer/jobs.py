"""The job on the parts of one layer."""

from __future__ import annotations

from explorer.labs.attention.layer.schema import LayerParams, LayerResult
from explorer.models.bundle import Bundle
from explorer.models.layer_sizes import layer_sizes


def one_layer(bundle: Bundle, params: LayerParams) -> LayerResult:
    """The matrices of one layer with their shapes, and the heads that its attention reads them as."""
    return LayerResult(bundle.model_id, layer_sizes(bundle.model, bundle.architecture))
