"""What the methods that peft has share.

The adapted matrices are named in full (peft guesses wrong or not at all for ALBERT, DistilBERT and others), and the fresh
modules are saved with the adapter, so that what peft writes can be loaded by peft.
"""

from __future__ import annotations

from typing import Any

from peft import PeftConfig, TaskType
from torch import nn
from transformers import PreTrainedModel

from explorer.tuning.forks import head_modules
from explorer.tuning.spec import RunSpec

ADAPTER = "default"
"""peft's own name for the only adapter of a model."""


def common(fork: PreTrainedModel) -> dict[str, Any]:
    """What every configuration says: the head is trained and saved too."""
    return {"task_type": TaskType.SEQ_CLS, "modules_to_save": head_modules(fork)}


def virtual(fork: PreTrainedModel, spec: RunSpec) -> dict[str, Any]:
    """How many virtual tokens, and their sizes."""
    config = fork.config
    return {
        "num_virtual_tokens": spec.prefix_length,
        "num_layers": config.num_hidden_layers,
        "token_dim": config.hidden_size,
        "num_attention_heads": config.num_attention_heads,
    }


def config_of(model: nn.Module) -> PeftConfig | None:
    """The configuration of a model that peft has wrapped; None for others."""
    found = getattr(model, "peft_config", {})
    return found.get(ADAPTER) if isinstance(found, dict) else None
