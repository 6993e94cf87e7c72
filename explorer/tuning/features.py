"""Trains a head without running the body again and again: what the head reads of each text never changes."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from explorer.models.families import Layers


class _Replay(nn.Module):
    """Stands in the body's place: returns the features that are passed as embeddings, as if of a text of one token."""

    def forward(self, *args: Any, inputs_embeds: Tensor, **kwargs: Any) -> BaseModelOutputWithPoolingAndCrossAttentions:
        """Return the embeddings as states. inputs_embeds: (rows, 1, width)."""
        return BaseModelOutputWithPoolingAndCrossAttentions(
            last_hidden_state=inputs_embeds, pooler_output=inputs_embeds[:, 0]
        )


def head_alone(fork: PreTrainedModel, layers: Layers) -> PreTrainedModel:
    """Return a view of a classifier with the same head, whose body is skipped."""
    view = copy.copy(fork)
    # Only the dictionary of modules is new, so the head's parameters are the fork's own.
    view._modules = {**fork._modules, layers.body: _Replay()}
    return view


@torch.no_grad()
def read_features(fork: PreTrainedModel, layers: Layers, inputs: dict[str, Tensor]) -> Tensor:
    """Return what the head reads of each row, (rows, width): the pooler's output, or the state at the position it
    classifies by.
    """
    output = fork.get_submodule(layers.body)(**inputs)
    pooled: Tensor | None = getattr(output, "pooler_output", None)
    if pooled is not None:
        return pooled
    hidden: Tensor = output.last_hidden_state
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
    if getattr(fork.config, "classifier_pooling", "cls") == "mean":  # some ModernBERTs
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    place = (mask * torch.arange(mask.shape[1], device=mask.device)).argmax(-1) if layers.reads_last else 0
    return hidden[torch.arange(len(hidden), device=hidden.device), place]
