"""Houlsby's adapters: two small networks in each layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import BETWEEN_THE_LAYERS, Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Put two adapters into each layer."""
    from torch import nn

    from explorer.tuning.methods.bottleneck import insert

    return insert(fork, spec, layers, ("output", "ffn_out"), nn.GELU())


METHOD = Method(
    "houlsby",
    "Adapters (Houlsby)",
    "Two small networks are put into each layer, after the attention and after the feed-forward block: down to a few "
    "dimensions, a nonlinearity, and up again. They start as the identity. They cannot be merged, so they cost time "
    "after training too.",
    r"h \leftarrow h + W_{\mathrm{up}}\, \mathrm{GELU}(W_{\mathrm{down}}\, h),\quad \text{twice a layer}",
    "Houlsby et al. 2019 (their layer norms, also trained there, stay frozen here)",
    ("bottleneck", "dropout", "last_layers"),
    1e-3,
    build,
    own_modules=True,
    unmergeable=BETWEEN_THE_LAYERS,
    template=lambda spec, layers: "bottleneck",
)
