"""IA³: one trained factor for each key, value and inner unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from explorer.models.families import Layers
from explorer.tuning.methods.method import Method, last_layers

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Scale keys, values and inner units of the feed-forward block by one factor each; a fused projection is scaled as
    a whole.
    """
    from peft import IA3Config, get_peft_model

    from explorer.tuning.methods.by_peft import common

    inner, reached = layers.matrices(("ffn_out",)), last_layers(fork, spec) or ()
    config = IA3Config(
        target_modules=layers.pattern((layers.matrices(("key", "value")) | inner).values(), reached),
        feedforward_modules=layers.pattern(inner.values(), reached),
        fan_in_fan_out=layers.transposed,
        **common(fork),
    )
    return get_peft_model(fork, config)


METHOD = Method(
    "ia3",
    "IA³",
    "Keys, values and the inner activations of the feed-forward block are each multiplied by a trained vector that "
    "starts at one. It trains the fewest numbers of all the methods that reach into the layers.",
    r"k' = l_k \odot k,\quad v' = l_v \odot v,\quad \mathrm{FFN}(x) = W_2\,(l_{ff} \odot \gamma(W_1 x))",
    "Liu et al. 2022, Few-Shot Parameter-Efficient Fine-Tuning is Better and Cheaper than In-Context Learning",
    ("last_layers",),
    1e-2,
    build,
    kept=16,
    changes_matrices=True,
)
