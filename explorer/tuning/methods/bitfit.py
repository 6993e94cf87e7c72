"""BitFit: training the bias vectors alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture, Layers
from explorer.tuning.methods.method import Method, is_reached

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy the body's bias vectors, those of layer norms included, and train them."""
    from explorer.tuning.forks import own

    frozen = [name for name, parameter in fork.named_parameters() if not parameter.requires_grad]
    # DeBERTa also calls some q_bias and v_bias.
    own(fork, [name for name in frozen if name.endswith("bias") and is_reached(name, fork, spec, layers)])
    return fork


def _needs_biases(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    switches = architecture.layers.bias_switches
    if not switches or any(config.get(switch) for switch in switches):
        return None
    return f"{architecture.family} has no bias vectors to train. Take IA³, which also trains one vector a matrix."


METHOD = Method(
    "bitfit",
    "BitFit",
    "Only the bias vectors are trained, about 0.1% of the model. Every matrix keeps its pretrained values.",
    r"h = W x + b',\quad b' = b + \Delta b",
    "Ben Zaken, Ravfogel and Goldberg 2022, BitFit",
    ("last_layers",),
    2e-3,
    build,
    _needs_biases,
    whole_tensors=True,
    trained_endings=("bias",),
    template=lambda spec, layers: "chosen",
)
