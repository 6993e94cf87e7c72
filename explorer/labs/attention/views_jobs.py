"""The jobs behind bertviz's views and the neuron view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from explorer.errors import BadInputError, ExplorerError
from explorer.labs.attention.head import TokenPlace
from explorer.labs.attention.head_jobs import Layers, encoded_pair, is_causal, second_start
from explorer.labs.attention.views import (
    SCALE,
    AttentionViewParams,
    AttentionViewResult,
    DrawnHead,
    LookedAt,
    QueryKeyParams,
    QueryKeyResult,
)
from explorer.models.batching import Inputs, alone, answered_together, attentions_of_each
from explorer.models.encoding import Encoded, Token
from explorer.models.inside import QueryKey, check_place, depth_of, heads_of, query_and_key
from explorer.models.loaded_model import LoadedModel

MOST_KEPT = {"head": 40_000, "model": 200_000}
"""Weights that a view carries, beside each token's largest; 5.3 bytes each in the page."""

MOST_THUMBNAIL_LINES = 40_000
"""Lines of all small pictures of the model view together; the large one of a head draws all that is kept."""


def attention_view(loaded: LoadedModel, params: AttentionViewParams) -> AttentionViewResult:
    """All heads of one layer or of every layer, as bertviz (Vig 2019) draws them, without the weights that do not show."""
    return alone(attention_views_together(loaded, [params]))


def attention_views_together(
    loaded: LoadedModel, asked: Sequence[AttentionViewParams]
) -> list[AttentionViewResult | ExplorerError]:
    """Answer several texts in one batch: a result, or an error, for each."""

    def prepare(params: AttentionViewParams) -> tuple[list[Inputs], Callable[[Sequence[Layers]], AttentionViewResult]]:
        check_place(loaded, params.layer, 0)
        encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
        return [encoded.inputs], lambda found: _viewed(loaded, params, encoded, found[0])

    return answered_together(asked, prepare, partial(attentions_of_each, loaded))


def _viewed(
    loaded: LoadedModel, params: AttentionViewParams, encoded: Encoded, attentions: Layers
) -> AttentionViewResult:
    depth = depth_of(loaded.model)
    layers = (params.layer,) if params.view == "head" else tuple(range(depth))
    exact = [attentions[layer].float().cpu() for layer in layers]
    whole = [_in_ten_thousandths(weights) for weights in exact]
    at_least = [_threshold(whole, most) for most in (MOST_KEPT[params.view], MOST_THUMBNAIL_LINES)]
    asked = max(1, round(params.smallest * SCALE))
    kept_from = max(asked, at_least[0])
    parts = [_kept(rounded, weights, kept_from) for rounded, weights in zip(whole, exact, strict=True)]
    return AttentionViewResult(
        loaded.model_id,
        params.view,
        tuple(token.shown for token in encoded.tokens),
        second_start(encoded),
        depth,
        layers,
        tuple(
            DrawnHead(layer, head, lines, share)
            for layer, part in zip(layers, parts, strict=True)
            for head, (lines, share) in enumerate(zip(part.lines, part.shares, strict=True))
        ),
        heads_of(loaded.model),
        kept_from,
        max(asked, *at_least),
        _packed([part.counts for part in parts]),
        _packed([part.targets for part in parts]),
        _packed([part.weights for part in parts]),
        at_least[0] > asked,
        is_causal(loaded),
    )


@dataclass(frozen=True)
class _Kept:
    """One layer: counts (heads · length), targets and weights (kept), lines and shares one for each head."""

    counts: Tensor
    targets: Tensor
    weights: Tensor
    lines: list[int]
    shares: list[float]


def _in_ten_thousandths(weights: Tensor) -> Tensor:
    """Round weights (heads, length, length) to int16, in float32, whose 24 bits are enough for four decimals."""
    return (weights * SCALE).round().to(torch.int16)


def _threshold(layers: Sequence[Tensor], most: int) -> int:
    """Return the least value, from 1 on, that at most `most` of all entries reach."""
    counts = torch.zeros(SCALE + 1, dtype=torch.int64)
    for layer in layers:
        counts += torch.bincount(layer.flatten(), minlength=SCALE + 1)
    reaching = counts.flip(0).cumsum(0).flip(0)  # how many entries are at least as large
    return max(1, int((reaching > most).sum()))  # 0 would keep every weight


def _kept(rounded: Tensor, weights: Tensor, least: int) -> _Kept:
    """Keep what reaches the threshold, and the largest weight of each row, so that every token shows where it looks."""
    kept = rounded >= least
    kept.scatter_(2, rounded.argmax(2, keepdim=True), True)  # (heads, n, n); each token's largest
    kept &= rounded > 0
    counts = kept.sum(2)
    # Up to millions of small addends.
    shares = (weights * kept).sum((1, 2), dtype=torch.float64) / weights.sum((1, 2), dtype=torch.float64)
    return _Kept(
        counts.flatten(),
        kept.nonzero()[:, 2],  # column 2 is the token looked at
        rounded[kept],
        counts.sum(1).tolist(),
        shares.clamp(max=1.0).tolist(),  # rounding may pass 1
    )


def _packed(parts: Sequence[Tensor]) -> bytes:
    """Pack whole numbers below 32,768 as little-endian 16 bits."""
    return torch.cat(list(parts)).to(torch.int16).numpy().astype("<u2").tobytes()


def query_key(loaded: LoadedModel, params: QueryKeyParams) -> QueryKeyResult:
    """One row of softmax(q·k / √d) with what it is made of (Vaswani et al. 2017, section 3.2.1)."""
    check_place(loaded, params.layer, params.head)
    encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
    position = _looking(encoded, params.position)
    found = query_and_key(loaded, encoded.inputs, params.layer)
    query, keys = found.query[params.head, position], found.key[params.head]  # (width,) and (n, width)
    weights = found.weights[params.head, position]
    # So that the difference below is the model's rounding alone.
    scores = (query.double() @ keys.double().T) * found.scaling
    hidden = _hidden(found, position)
    seen = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    difference = float((seen - weights.double()).abs().max())
    return QueryKeyResult(
        loaded.model_id,
        (params.sentence_a, params.sentence_b),
        params.layer,
        params.head,
        depth_of(loaded.model),
        heads_of(loaded.model),
        _place(encoded.tokens[position]),
        tuple(query.tolist()),
        tuple(
            LookedAt(_place(token), tuple(keys[j].tolist()), float(scores[j]), float(weights[j]), bool(hidden[j]))
            for j, token in enumerate(encoded.tokens)
        ),
        found.scaling,
        difference < 1e-4,  # well above float32 rounding, and far below what relative positions add
        difference,
        bool(hidden.any()) and not is_causal(loaded),
    )


def _looking(encoded: Encoded, position: int | None) -> int:
    """Return the position that looks: the one asked for, or the first word. Raises BadInputError for one that is not
    there.
    """
    if position is None:
        return next((token.position for token in encoded.tokens if token.word is not None), 0)
    if position >= len(encoded.tokens):
        raise BadInputError(
            f"This text has {len(encoded.tokens)} tokens, 0 to {len(encoded.tokens) - 1}: there is no position {position}."
        )
    return position


def _hidden(found: QueryKey, position: int) -> Tensor:
    """Return which tokens this one may not see, booleans (length,): no head of the layer gives them any weight.

    A model that sees everything gives every token a weight; one that underflows to 0 in one head has a weight in
    another.
    """
    unseen = (found.weights[:, position] == 0).all(0)
    return torch.zeros_like(unseen) if found.exact else unseen


def _place(token: Token) -> TokenPlace:
    return TokenPlace(token.position, token.text, token.shown, token.joined, token.word is None)
