"""Splits DeBERTa's attention scores into their terms, and computes its relative positions, both by the model's own code
(He et al. 2021, 2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorer.models.inside import heads_of, private_tree, query_and_key
from explorer.models.loaded_model import LoadedModel

CONTENT, CONTENT_TO_POSITION, POSITION_TO_CONTENT = "content-content", "content-position", "position-content"
_KINDS = {CONTENT_TO_POSITION: "c2p", POSITION_TO_CONTENT: "p2c"}
_BIAS = ("disentangled_att_bias", "disentangled_attention_bias")
"""The names of the method that adds up the terms of position: in DeBERTa, and in its later versions."""


@dataclass(frozen=True)
class ScoreTerms:
    """The terms of one layer's scores for one text, as they are added before the softmax: (heads, length, length) each.

    A term that the checkpoint does not have is left out. weights: the model's own attention, (heads, length, length).
    """

    terms: dict[str, Tensor]
    weights: Tensor

    @property
    def scores(self) -> Tensor:
        """The sum of the terms."""
        return torch.stack(list(self.terms.values())).sum(0)


def score_terms(loaded: LoadedModel, inputs: Mapping[str, Tensor], layer: int) -> ScoreTerms:
    """Return what content and position each add to the scores of a layer (from 0). inputs: keyword tensors, (1, length)."""
    content = query_and_key(loaded, inputs, layer)
    terms = {CONTENT: content.query @ content.key.transpose(1, 2) * content.scaling}
    tree = private_tree(loaded.model)
    attention: Any = tree.get_submodule(_attention(loaded, layer))
    name = next(name for name in _BIAS if hasattr(attention, name))
    bias, given = getattr(attention, name), list[Any]()

    def keep(*passed: Any) -> Tensor:  # records the arguments of the model's own call
        given.append(passed)
        added: Tensor = bias(*passed)
        return added

    setattr(attention, name, keep)
    tree(**{key: tensor.to(loaded.device) for key, tensor in inputs.items()})
    asked = attention.pos_att_type
    for term, kind in _KINDS.items():
        if given and kind in asked:
            attention.pos_att_type = [kind]  # asked for one kind at a time, the method returns that term alone
            added = bias(*given[0])
            terms[term] = added.view(heads_of(tree), *added.shape[-2:]).float().cpu()
    return ScoreTerms(terms, content.weights)


def _attention(loaded: LoadedModel, layer: int) -> str:
    layers = loaded.architecture.layers
    return layers.name(layer, layers.modules["query"]).rpartition(".")[0]


@dataclass(frozen=True)
class RelativePositions:
    """The relative embeddings' row for each pair of tokens.

    rows: δ(i, j) of the paper's equation 3, from 0, (length, length). span: k of that equation; the table has 2k rows.

    buckets: whether far distances share rows by their logarithm (versions 2 and 3).
    """

    rows: Tensor
    span: int
    buckets: bool


def relative_positions(loaded: LoadedModel, length: int) -> RelativePositions | None:
    """Return δ for a text of `length` tokens, by the model's own function; None for a model whose attention has no such
    table.
    """
    encoder: Any = getattr(loaded.model.base_model, "encoder", None)
    if not loaded.architecture.disentangled or not encoder.relative_attention:
        return None
    relative = encoder.get_rel_pos(torch.empty(1, length, 1)).reshape(length, length)
    span = len(encoder.rel_embeddings.weight) // 2
    rows = (relative + span).clamp(0, 2 * span - 1)  # the clamp of equation 3
    return RelativePositions(rows, span, getattr(encoder, "position_buckets", -1) > 0)
