"""Pfeiffer's adapters: one small network in each layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import BETWEEN_THE_LAYERS, Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Put one adapter into each layer."""
    from torch import nn

    from explorer.tuning.methods.bottleneck import insert

    return insert(fork, spec, layers, ("ffn_out",), nn.ReLU())


METHOD = Method(
    "pfeiffer",
    "Adapters (Pfeiffer)",
    "As Houlsby's, with one network a layer, after the feed-forward block. Half the parameters and half the added time "
    "do almost as well.",
    r"h \leftarrow h + W_{\mathrm{up}}\, \mathrm{ReLU}(W_{\mathrm{down}}\, h),\quad \text{once a layer}",
    "Pfeiffer et al. 2021, AdapterFusion (AdptP in the LoRA paper)",
    ("bottleneck", "dropout", "last_layers"),
    1e-3,
    build,
    own_modules=True,
    unmergeable=BETWEEN_THE_LAYERS,
    template=lambda spec, layers: "bottleneck",
)
