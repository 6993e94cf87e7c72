"""LayerNorm tuning: the scales of the normalisations alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec

ENDING = "LayerNorm.weight"


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy the scales and train them."""
    from explorer.tuning.forks import own

    frozen = [name for name, parameter in fork.named_parameters() if not parameter.requires_grad]
    own(fork, [name for name in frozen if name.endswith(ENDING)])
    return fork


METHOD = Method(
    "layernorm",
    "LayerNorm tuning",
    "Only the scales of the normalisations are trained.",
    r"h = \gamma' \odot \hat{h} + \beta",
    "Zhao et al. 2024, Tuning LayerNorm in Attention",
    (),
    2e-3,
    build,
    whole_tensors=True,
    trained_endings=(ENDING,),
    template=lambda spec, layers: "chosen",
)
