"""The job on the parts of one layer."""

from __future__ import annotations

from explorer.labs.attention.layer.schema import LayerParams, LayerResult
from explorer.models.layer_sizes import layer_sizes
from explorer.models.loaded_model import LoadedModel


def one_layer(bundle: LoadedModel, params: LayerParams) -> LayerResult:
    """The matrices of one layer with their shapes, and the heads that its attention reads them as."""
    return LayerResult(bundle.model_id, layer_sizes(bundle.model, bundle.architecture))
