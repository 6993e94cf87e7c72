"""Methods that train tensors of the body itself, on copies of its own: all of them, the biases, or none."""

from __future__ import annotations

import torch
from torch import nn
from transformers import PreTrainedModel

from explorer.models.architectures import Layers
from explorer.tuning.forks import own
from explorer.tuning.spec import RunSpec


def full(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy every parameter of the body and train it."""
    own(fork, [name for name, parameter in fork.named_parameters() if not parameter.requires_grad])
    return fork


def head(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Train what the checkpoint lacks and nothing else."""
    return fork


def bitfit(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy the bias vectors of the body, layer norms' included, and train them (DeBERTa calls some q_bias and v_bias)."""
    frozen = [name for name, parameter in fork.named_parameters() if not parameter.requires_grad]
    own(fork, [name for name in frozen if name.endswith("bias")])
    return fork


def student(fork: PreTrainedModel, spec: RunSpec, layers: Layers) -> nn.Module:
    """Copy every parameter of a shorter model and train it; from random numbers where spec.start says so.

    What a student takes over from a fine-tuned teacher is copied into it afterwards (explorer.tuning.distilling).
    """
    full(fork, spec, layers)
    if spec.start == "random":
        with torch.no_grad():
            fork.apply(fork._init_weights)
    return fork
