"""A trained RoBERTa's weights in DeBERTa's form, and where its heads' sense of distance comes from.

RoBERTa adds a vector for each place to the words; DeBERTa (He et al. 2021) keeps place and word apart and scores
q·k + q·Pk(i-j) + k·Pq(j-i), over sqrt(3d). What carries over exactly: words, projections, feed-forward layers and the MLM head.
What can't: absolute places. How each of RoBERTa's heads weighs a distance, on the average over text, is fitted instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

PLACES = 128
"""RoBERTa's places whose mean vector goes into the words: as many as its training rows had."""
TERMS = 3
ROUNDS = 8
RIDGE = 1e-3
FLOOR = 1e-3
"""Each pair's weight in the fit is the attention it gets, and this more."""
SIZE = 0.3
"""The root mean square of a fitted column of the relative embeddings."""


@torch.no_grad()
def fill_from_roberta(model: Any, roberta: Any) -> None:
    """Put a RobertaForMaskedLM's weights into a DebertaForMaskedLM of its size, without any sense of place.

    DeBERTa's words take in RoBERTa's one segment and its mean place: the decoder is tied, and a vector that all words share
    adds the same to every score. Queries grow by sqrt(3), which DeBERTa's scale takes back; a key's bias adds the same to all
    keys of a query, so it falls away in the softmax.
    """
    source, target = roberta.roberta.embeddings, model.deberta.embeddings
    spare = roberta.config.pad_token_id + 1
    shared = source.token_type_embeddings.weight[0] + source.position_embeddings.weight[spare : spare + PLACES].mean(0)
    target.word_embeddings.weight.copy_(source.word_embeddings.weight + shared)
    target.LayerNorm.load_state_dict(source.LayerNorm.state_dict())
    for old, new in zip(roberta.roberta.encoder.layer, model.deberta.encoder.layer, strict=True):
        _fill_attention(new.attention.self, old.attention.self, roberta.config.num_attention_heads)
        for name in ("attention.output.dense", "attention.output.LayerNorm", "intermediate.dense", "output"):
            new.get_submodule(name).load_state_dict(old.get_submodule(name).state_dict())
    head = model.cls.predictions
    head.transform.dense.load_state_dict(roberta.lm_head.dense.state_dict())
    head.transform.LayerNorm.load_state_dict(roberta.lm_head.layer_norm.state_dict())
    head.decoder.bias.copy_(roberta.lm_head.bias)


def _fill_attention(new: Any, old: Any, heads: int) -> None:
    """One layer's query, key and value: DeBERTa's fused map has them head by head."""
    grown = math.sqrt(TERMS)
    parts = [old.query.weight * grown, old.key.weight, old.value.weight]
    by_head = [part.view(heads, -1, part.shape[-1]) for part in parts]
    new.in_proj.weight.copy_(torch.cat(by_head, dim=1).flatten(0, 1))
    new.q_bias.copy_(old.query.bias * grown)
    new.v_bias.copy_(old.value.bias)


@torch.no_grad()
def fit_distances(model: Any, roberta: Any, texts: Sequence[Tensor]) -> None:
    """Give each head of a filled model the weight of distances that the same head of RoBERTa has on texts.

    texts: ids, (rows, length) each. Layer by layer, since a layer's states depend on those below: the difference of the two
    models' log attention is fitted by a function of i-j and one number a query (which the softmax ignores). The functions
    become columns of the relative embeddings, which all layers share; each head's position key reads its own column, along
    the direction in which its queries differ least.
    """
    attention = [layer.attention.self for layer in model.deberta.encoder.layer]
    heads, span = attention[0].num_attention_heads, attention[0].max_relative_positions
    for layer in attention:
        layer.pos_proj.weight.zero_()
        layer.pos_q_proj.weight.normal_(std=model.config.initializer_range)
        layer.pos_q_proj.bias.zero_()
    wanted = [roberta(ids, output_attentions=True).attentions for ids in texts]
    for depth, layer in enumerate(attention):
        queries: list[Tensor] = []
        found: list[Tensor] = []
        keep = layer.in_proj.register_forward_hook(
            lambda module, given, output, kept=queries: kept.append(output.flatten(0, 1))
        )
        for ids in texts:
            found.append(model(ids, output_attentions=True).attentions[depth])
        keep.remove()
        weights = _distance_weights([every[depth] for every in wanted], found, span)
        _write(model.deberta.encoder.rel_embeddings.weight, layer, depth * heads, weights, torch.cat(queries))


def _distance_weights(wanted: Sequence[Tensor], found: Sequence[Tensor], span: int) -> Tensor:
    """What to add to each head's scores by distance: (2·span, heads).

    wanted, found: attention, (rows, heads, length, length) a text. Weighted least squares, in turn over queries and distances.
    """
    columns = []
    for head in range(wanted[0].shape[1]):
        pairs = []
        for aim, now in zip(wanted, found, strict=True):
            aim, now = aim[:, head], now[:, head]
            places = torch.arange(aim.shape[-1])
            index = (places[:, None] - places + span).clamp(0, 2 * span - 1).expand_as(aim)
            pairs.append((aim.clamp_min(1e-9).log() - now.clamp_min(1e-9).log(), aim + FLOOR, index))
        column = torch.zeros(2 * span)
        for _ in range(ROUNDS):
            above, below = torch.zeros(2 * span), torch.full((2 * span,), RIDGE)
            for gap, weight, index in pairs:
                left = gap - column[index]
                query = (weight * left).sum(-1, keepdim=True) / weight.sum(-1, keepdim=True)
                above.scatter_add_(0, index.flatten(), (weight * (gap - query)).flatten())
                below.scatter_add_(0, index.flatten(), weight.flatten())
            column = above / below
        columns.append(column - column.mean())
    return torch.stack(columns, dim=1)


def _write(relative: Tensor, layer: Any, first: int, weights: Tensor, projected: Tensor) -> None:
    """Put weights of distances, (2·span, heads), into columns of the relative embeddings from `first` on.

    projected: what the layer's in_proj gave, (tokens, 3·width).
    """
    heads = layer.num_attention_heads
    queries = projected.unflatten(-1, (heads, -1)).chunk(3, dim=-1)[0]
    queries = queries + layer.q_bias.view(heads, -1)
    width = queries.shape[-1]
    for head in range(heads):
        mean = queries[:, head].mean(0)
        spread = torch.cov(queries[:, head].T)
        along = torch.linalg.solve(spread + RIDGE * spread.diagonal().mean() * torch.eye(width), mean)
        along = along / (along @ mean)
        column = weights[:, head]
        size = column.pow(2).mean().sqrt().clamp_min(1e-6) / SIZE
        relative[:, first + head] = column / size
        layer.pos_proj.weight[head * width : (head + 1) * width, first + head] = along * size * math.sqrt(TERMS * width)
