"""Splits what a model adds up for each token before its first layer into its parts, from the model's own tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from explorer.models.loaded_model import LoadedModel


@dataclass(frozen=True)
class Part:
    """One part of the sum, or a stage after it.

    kind: token, segment or position, which are added; sum; layer_norm or projection, which follow. values: (length,
    width), in float64. rows: the row of its table for each token, (length,); None for a stage that is computed.
    """

    kind: str
    values: Tensor
    rows: Tensor | None = None


def table_of(loaded: LoadedModel, kind: str) -> Tensor | None:
    """Return the lookup table of a kind (token, segment or position), (rows, width); None if family or config has none."""
    path = getattr(loaded.architecture.embeddings, kind)
    module = _module(loaded.model.base_model, path) if path else None
    return None if module is None else module.weight


def _module(body: Any, path: str) -> Any:
    """Return a module by its path; None if the model was built without it."""
    module = body
    for name in path.split("."):
        module = getattr(module, name, None)
        if module is None:
            return None
    return module


def embedding_parts(loaded: LoadedModel, inputs: Mapping[str, Tensor]) -> tuple[Part, ...]:
    """Return the parts of one text in the order in which the model computes them; the last is what its first layer
    reads.

    inputs: keyword tensors, (1, length), as `encode` returns them. Computed in float64 from the model's float32
    weights, so any difference from the model's own output is the model's rounding.
    """
    body, known = loaded.model.base_model, loaded.architecture.embeddings
    ids = inputs["input_ids"][0].cpu()
    added = [Part("token", _rows(body, known.token, ids), ids)]
    segments = inputs.get("token_type_ids")
    rows = segments[0].cpu() if segments is not None else torch.zeros_like(ids)
    if (
        known.segment
        and _module(body, known.segment) is not None
        and not (known.needs_segment_ids and segments is None)
    ):
        added.append(Part("segment", _rows(body, known.segment, rows), rows))
    if known.position and _module(body, known.position) is not None:
        places = _places(loaded, ids)
        added.append(Part("position", _rows(body, known.position, places), places))
    states = torch.stack([part.values for part in added]).sum(0)
    parts = [*added, Part("sum", states)]
    for kind, path in known.stages:
        module = _module(body, path)
        if module is not None:
            states = _STAGES[kind](module, states)
            parts.append(Part(kind, states))
    return tuple(parts)


def _rows(body: nn.Module, path: str, rows: Tensor) -> Tensor:
    weight: Tensor = _module(body, path).weight
    return weight[rows.to(weight.device)].cpu().double()  # there are accelerators without float64


def _places(loaded: LoadedModel, ids: Tensor) -> Tensor:
    """Return the row of the position table for each token."""
    if not loaded.architecture.embeddings.after_padding:
        return torch.arange(len(ids))
    padding = int(loaded.model.config.pad_token_id)
    counted = (ids != padding).long()
    # RoBERTa counts from the padding's row on, and padding itself stays there (fairseq).
    return counted.cumsum(0) * counted + padding


def _layer_norm(module: Any, states: Tensor) -> Tensor:
    """LayerNorm (Ba et al. 2016): scale each vector to mean 0 and variance 1, then apply a gain and a bias for each
    dimension.
    """
    # DeBERTa's own LayerNorm calls it variance_epsilon.
    epsilon = module.variance_epsilon if hasattr(module, "variance_epsilon") else module.eps
    centred = states - states.mean(-1, keepdim=True)
    scaled = centred / (centred.square().mean(-1, keepdim=True) + epsilon).sqrt()
    bias = getattr(module, "bias", None)
    normed: Tensor = scaled * _plain(module.weight) + (0.0 if bias is None else _plain(bias))
    return normed


def _linear(module: nn.Linear, states: Tensor) -> Tensor:
    """Map the embeddings' width E to the layers' width H."""
    bias = module.bias
    projected: Tensor = states @ _plain(module.weight).T + (0.0 if bias is None else _plain(bias))
    return projected


def _plain(tensor: Tensor) -> Tensor:
    return tensor.cpu().double()


_STAGES = {"layer_norm": _layer_norm, "projection": _linear}
