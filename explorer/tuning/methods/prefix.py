"""Prefix-layer (prefix tuning): trained keys and values before those of the text, in every layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from explorer.models.families import Architecture, Layers
from explorer.tuning.methods.method import BEFORE_THE_TEXT, Method

if TYPE_CHECKING:
    from torch import nn
    from transformers import PreTrainedModel

    from explorer.tuning.spec import RunSpec

SHARED_START = 0.02
"""Standard deviation of a prefix's keys and values at the start: peft's 1.0 would drown the text's own."""


def build(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Put trained keys and values before the text's in every layer. The classifier still reads [CLS], though its
    position moves back.
    """
    from peft import PrefixTuningConfig, get_peft_model
    from torch import nn

    from explorer.tuning.methods.by_peft import ADAPTER, virtual

    config = PrefixTuningConfig(**virtual(fork, spec))
    model: nn.Module = get_peft_model(fork, config)
    nn.init.normal_(model.get_parameter(f"prompt_encoder.{ADAPTER}.embedding.weight"), std=SHARED_START)
    return model


def _needs_past(architecture: Architecture, config: Mapping[str, Any]) -> str | None:
    if architecture.layers.takes_prefix:
        return None
    return (
        f"The attention of {architecture.family} in transformers cannot be given keys and values that stand before the "
        "text. Take Prefix-embedding, which puts its vectors before the first layer only."
    )


METHOD = Method(
    "prefix",
    "Prefix-layer",
    "Every layer gets trained keys and values that stand before those of the text, so each token can attend to them. "
    "The prefix acts in each layer, where Prefix-embedding acts before the first alone.",
    r"\mathrm{Att}\!\left(q,\ [P_K; K],\ [P_V; V]\right),\quad P_K, P_V \in \mathbb{R}^{m \times H}\ \text{in each layer}",
    "Li and Liang 2021 (prefix tuning, without its reparametrisation); Hu et al. 2021, LoRA, section 5.1",
    ("prefix_length",),
    2e-2,
    build,
    _needs_past,
    unmergeable=BEFORE_THE_TEXT,
    template=lambda spec, layers: "prefix",
)
