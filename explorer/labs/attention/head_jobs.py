"""The attention lab's first jobs: one head in detail, and every head by a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from torch import Tensor

from explorer.errors import BadInputError, ExplorerError
from explorer.labs.attention.head import (
    AttentionParams,
    AttentionResult,
    HeadFacts,
    Square,
    StatisticsParams,
    StatisticsResult,
    TokenPlace,
)
from explorer.maths.attention import STATISTICS, head_statistics, rollout
from explorer.models.batching import Inputs, alone, answered_together, attentions_of_each
from explorer.models.encoding import Encoded, encode, with_own_mask
from explorer.models.inside import check_place, depth_of, heads_of
from explorer.models.loaded_model import LoadedModel

Layers = tuple[Tensor, ...]
"""A text's attention weights, layer by layer: (heads, length, length)."""


def attention(loaded: LoadedModel, params: AttentionParams) -> AttentionResult:
    """One head's weights, softmax(q·k / √d) row by row (Vaswani et al. 2017, section 3.2.1), and the rollout up to its layer.

    With masked positions the weights are those of the masked text, and those of the text as it is come along.
    """
    return alone(attention_together(loaded, [params]))


def attention_together(loaded: LoadedModel, asked: Sequence[AttentionParams]) -> list[AttentionResult | ExplorerError]:
    """Answer several texts in one batch: a result, or an error, for each."""

    def prepare(params: AttentionParams) -> tuple[list[Inputs], Callable[[Sequence[Layers]], AttentionResult]]:
        check_place(loaded, params.layer, params.head)
        encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
        masked = _masked_inputs(loaded, encoded, params.masked)
        inputs = [masked, encoded.inputs] if params.masked else [masked]
        return inputs, lambda found: _one_head(loaded, params, encoded, *found)

    return answered_together(asked, prepare, partial(attentions_of_each, loaded))


def _one_head(
    loaded: LoadedModel, params: AttentionParams, encoded: Encoded, layers: Layers, unmasked: Layers | None = None
) -> AttentionResult:
    """Make the result. unmasked: the weights of the text as it is, if some of it was masked."""
    weights = layers[params.layer][params.head].float().cpu()
    # A batch of one: (1, heads, n, n) each.
    flow = rollout([layer[None] for layer in layers[: params.layer + 1]])[-1][0].float().cpu()
    special = [token.position for token in encoded.tokens if token.word is None]
    found = head_statistics(weights[None], separators(loaded, encoded))  # (1, n, n)
    return AttentionResult(
        loaded.model_id,
        tuple(
            TokenPlace(t.position, t.text, t.shown, t.joined, t.word is None, t.position in params.masked)
            for t in encoded.tokens
        ),
        second_start(encoded),
        depth_of(loaded.model),
        heads_of(loaded.model),
        params.layer,
        params.head,
        square(weights),
        square(flow),
        None if unmasked is None else square(unmasked[params.layer][params.head]),
        HeadFacts(
            tuple((name, float(value[0])) for name, value in found.items()),
            float(weights[:, special].sum(-1).mean()) if special else 0.0,  # (n, special) to a mean over rows
        ),
        is_causal(loaded),
    )


def statistics_of_heads(loaded: LoadedModel, params: StatisticsParams) -> StatisticsResult:
    """Every head of every layer by seven statistics (explorer.maths.attention), from one forward pass."""
    return alone(statistics_together(loaded, [params]))


def statistics_together(
    loaded: LoadedModel, asked: Sequence[StatisticsParams]
) -> list[StatisticsResult | ExplorerError]:
    """Answer several texts in one batch: a result, or an error, for each."""

    def prepare(params: StatisticsParams) -> tuple[list[Inputs], Callable[[Sequence[Layers]], StatisticsResult]]:
        encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
        return [encoded.inputs], lambda found: _every_head(loaded, encoded, found[0])

    return answered_together(asked, prepare, partial(attentions_of_each, loaded))


def _every_head(loaded: LoadedModel, encoded: Encoded, attentions: Layers) -> StatisticsResult:
    places = separators(loaded, encoded)
    layers = [head_statistics(layer.float(), places) for layer in attentions]
    grids = tuple(
        (name, tuple(tuple(layer[name].tolist()) for layer in layers)) for name in STATISTICS if name in layers[0]
    )
    return StatisticsResult(
        loaded.model_id, len(encoded.tokens), grids, encoded.tokens[0].text, str(loaded.tokenizer.sep_token or "")
    )


def encoded_pair(loaded: LoadedModel, sentence_a: str, sentence_b: str) -> Encoded:
    """Encode a text, or a pair if there is a second one; [MASK] is spelled as the model spells it."""
    first = with_own_mask(loaded.tokenizer, sentence_a)
    return encode(loaded, first, with_own_mask(loaded.tokenizer, sentence_b) if sentence_b else None)


def second_start(encoded: Encoded) -> int | None:
    """Return the first position of the second text; None if there is one text."""
    return next((token.position for token in encoded.tokens if token.sentence == 1), None)


def separators(loaded: LoadedModel, encoded: Encoded) -> list[int]:
    """Return the positions of [SEP], or however the model spells it; none in families without one."""
    wanted = loaded.tokenizer.sep_token_id
    return [token.position for token in encoded.tokens if wanted is not None and token.token_id == wanted]


def is_causal(loaded: LoadedModel) -> bool:
    """Say whether a token sees only those before it."""
    return loaded.architecture.layers.reads_last


def square(matrix: Tensor) -> Square:
    """Return a matrix (length, length) as plain data."""
    return Square.of(matrix.float().cpu().tolist())


def _masked_inputs(loaded: LoadedModel, encoded: Encoded, masked: tuple[int, ...]) -> dict[str, Tensor]:
    """Return the inputs with some positions hidden.

    Raises BadInputError if a position holds no token of the text, or the model has no mask token.
    """
    if not masked:
        return encoded.inputs
    if loaded.tokenizer.mask_token_id is None:
        raise BadInputError(f"{loaded.model_id} has no mask token, so no token can be hidden from it.")
    for position in masked:
        if position >= len(encoded.tokens) or encoded.tokens[position].word is None:
            raise BadInputError(f"Position {position} holds no token of the text, so it cannot be masked.")
    inputs = {name: tensor.clone() for name, tensor in encoded.inputs.items()}  # the text as it is is read as well
    inputs["input_ids"][0, list(masked)] = int(loaded.tokenizer.mask_token_id)
    return inputs
