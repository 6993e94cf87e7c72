"""Shared code of the methods that peft has.

The adapted matrices are named in full (peft guesses wrong or not at all for ALBERT, DistilBERT and others), and the
fresh modules are saved with the adapter, so that what peft writes can be loaded by peft.
"""

from __future__ import annotations

from typing import Any, cast

from peft import PeftConfig, TaskType
from torch import nn
from transformers import (
    MODEL_FOR_CAUSAL_LM_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    PreTrainedModel,
)

from explorer.tuning.forks import head_modules
from explorer.tuning.spec import RunSpec

ADAPTER = "default"
"""peft's own name for the only adapter of a model."""


def common(fork: PreTrainedModel) -> dict[str, Any]:
    """Return the arguments of every configuration: a fresh head is trained and saved too."""
    task = task_type(fork)
    # peft 0.21's class for answers keeps the segments (token_type_ids) from the model; its plain one hands on what it is given
    passed = None if task is TaskType.QUESTION_ANS else task
    return {"task_type": passed, "modules_to_save": head_modules(fork) or None}


def task_type(fork: PreTrainedModel) -> TaskType:
    """Return peft's name for the task of the fork's head."""
    config, found = type(fork.config), cast("Any", type(fork))
    for mapping, name in (
        (MODEL_FOR_CAUSAL_LM_MAPPING, TaskType.CAUSAL_LM),
        (MODEL_FOR_QUESTION_ANSWERING_MAPPING, TaskType.QUESTION_ANS),
    ):
        if mapping.get(config, None) is found:
            return name
    return TaskType.SEQ_CLS


def virtual(fork: PreTrainedModel, spec: RunSpec) -> dict[str, Any]:
    """Return the arguments of `common`, with the number of virtual tokens and their sizes."""
    config = fork.config
    return {
        **common(fork),
        # Virtual tokens need peft's class of the task, which reads a question without segments.
        "task_type": task_type(fork),
        "num_virtual_tokens": spec.prefix_length,
        "num_layers": config.num_hidden_layers,
        "token_dim": config.hidden_size,
        "num_attention_heads": config.num_attention_heads,
    }


def config_of(model: nn.Module) -> PeftConfig | None:
    """Return the configuration of a model that peft has wrapped; None for others."""
    found = getattr(model, "peft_config", {})
    return found.get(ADAPTER) if isinstance(found, dict) else None
