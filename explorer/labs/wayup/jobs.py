"""The whole way of a text through a model, in one forward pass."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.wayup.schema import (
    GUESSES,
    MOST_DRAWN,
    Build,
    Guess,
    LayerSeen,
    Opened,
    PassParams,
    PassResult,
    Rung,
)
from explorer.models.embeddings import embedding_parts
from explorer.models.encoding import Encoded, Token, asked_texts, encode
from explorer.models.families import Capability
from explorer.models.hiding import hidden_positions, token_view
from explorer.models.inside import check_place
from explorer.models.layer_sizes import layer_sizes
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, question_of_tokens, scores
from explorer.models.whole_pass import LayerParts, WholePass
from explorer.models.whole_pass import whole_pass as follow

Rows = tuple[tuple[float, ...], ...]


def whole_pass(loaded: LoadedModel, params: PassParams) -> PassResult:
    """Follow a text from its embeddings to the head's answer: states, what attention moves, the guess at each depth.

    The guess at each depth is the logit lens (nostalgebraist 2020). What a head moves from one token to another is
    measured by ‖α W_O v‖ (Kobayashi et al. 2020, section 3). Raises BadInputError for a text that is longer than the
    picture has room for, or a place, layer or head that is not there.
    """
    asked = _question(loaded)
    text, _, cut = asked_texts(loaded, params.text)
    encoded = encode(loaded, text)
    if len(encoded.tokens) > MOST_DRAWN:
        raise BadInputError(
            f"This is {len(encoded.tokens)} tokens long, and the picture has room for {MOST_DRAWN}. Take one sentence of it."
        )
    typed = {t.position for t in encoded.tokens if t.token_id == loaded.tokenizer.mask_token_id}
    hidden = _hidden(loaded, asked, encoded, params) - typed
    position = _position(asked, encoded, params.position, typed | hidden)
    check_place(loaded, max(params.layer, 0), max(params.head, 0))  # -1 stands for none
    inputs = {name: tensor.clone() for name, tensor in encoded.inputs.items()}
    if hidden:
        inputs["input_ids"][0, sorted(hidden)] = int(loaded.tokenizer.mask_token_id)
    found = follow(loaded, inputs, [position])
    special = [t.position for t in encoded.tokens if t.word is None]
    seen = tuple(_seen(found, number, position, special, params.head) for number in range(len(found.attended)))
    truth = encoded.tokens[position] if position in hidden else None
    return PassResult(
        loaded.model_id,
        params.text,
        str(loaded.tokenizer.mask_token or ""),
        asked.slug,
        tuple(token_view(loaded, token, typed, hidden) for token in encoded.tokens),
        position,
        params.position >= 0,
        class_name(asked, loaded, truth.token_id) if truth else "",
        cut,
        params.head >= 0,
        tuple((part.kind, tuple(part.values.norm(dim=-1).tolist())) for part in embedding_parts(loaded, inputs)),
        _rungs(loaded, asked, found, truth),
        seen,
        None if params.layer < 0 else _opened(found, params.layer, seen[params.layer].head, position),
        _build(loaded, found),
    )


def _question(loaded: LoadedModel) -> Question:
    asked = question_of_tokens(loaded)
    if asked is not None:
        return asked
    raise MissingCapabilityError(
        f"{loaded.model_id} has no head that names tokens, so there is no guess to follow.",
        Capability.MLM.name,
        loaded.architecture.model_type,
    )


def _hidden(loaded: LoadedModel, asked: Question, encoded: Encoded, params: PassParams) -> set[int]:
    """Return what a visitor hides; a model that fills no masks is asked about the token in view."""
    if asked.needs is not Capability.MLM:
        return set()
    return hidden_positions(encoded, params.text, params.also_mask, params.spans)


def _position(asked: Question, encoded: Encoded, wished: int, hidden: set[int]) -> int:
    if wished >= 0:
        if wished >= len(encoded.tokens):
            raise BadInputError(
                f"This text has {len(encoded.tokens)} tokens, 0 to {len(encoded.tokens) - 1}: there is no position {wished}."
            )
        return wished
    if hidden:
        return min(hidden)
    if asked.needs is Capability.CAUSAL:
        return len(encoded.tokens) - 1  # whose state names what comes next
    words = [t.position for t in encoded.tokens if t.word is not None and any(map(str.isalnum, t.shown))]
    return words[-1] if words else len(encoded.tokens) - 1


def _rungs(loaded: LoadedModel, asked: Question, found: WholePass, truth: Token | None) -> tuple[Rung, ...]:
    shares = scores(asked, loaded, found.output)[:, 0].double().softmax(-1).cpu()  # (depth + 1, classes)
    rungs = []
    for layer, row in enumerate(shares):
        best = row.topk(min(GUESSES, len(row)))
        guesses = tuple(
            Guess(class_name(asked, loaded, token), share)
            for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        rungs.append(Rung(layer, guesses, None if truth is None else float(row[truth.token_id])))
    return tuple(rungs)


def _seen(found: WholePass, number: int, position: int, special: Sequence[int], head: int) -> LayerSeen:
    attended = found.attended[number]
    others = attended.moved[:, position].clone()  # (heads, length)
    others[:, [position, *special]] = 0.0
    strongest = int(others.max(-1).values.argmax())
    shown = strongest if head < 0 else head
    total = float(attended.moved[shown, position].sum())
    most = int(others[shown].argmax())
    share = float(others[shown, most]) / total if total else 0.0
    turned = 1 - cosine_similarity(found.states[number], found.states[number + 1], dim=-1)
    return LayerSeen(
        number,
        shown,
        _rows(attended.weights[shown]),
        tuple(attended.brought[shown].tolist()),
        tuple(turned.tolist()),
        (most, share) if share > 0 else None,
    )


def _opened(found: WholePass, layer: int, head: int, position: int) -> Opened:
    attended, parts = found.attended[layer], found.layers[layer]
    query, key, value = attended.query[head], attended.key[head], attended.value[head]
    weights = attended.weights[head]
    unseen = (attended.weights == 0).all(0)  # one that underflows to 0 in a head has a weight in another
    scores = query @ key.T * attended.scaling
    own = scores.masked_fill(unseen, float("-inf")).softmax(-1)
    vectors = {name: tuple(getattr(parts, name)[position].tolist()) for name in LayerParts.__dataclass_fields__}
    return Opened(
        layer,
        head,
        tuple(query[position].tolist()),
        _rows(key),
        _rows(value),
        _rows(scores),
        _rows(weights),
        tuple(tuple(row) for row in unseen.tolist()),
        attended.scaling,
        bool(torch.allclose(own, weights, atol=1e-4)),
        vectors,
        int((parts.inner[position] > 0).sum()),
    )


def _rows(matrix: Tensor) -> Rows:
    return tuple(tuple(row) for row in matrix.tolist())


def _build(loaded: LoadedModel, found: WholePass) -> Build:
    sizes, attended = layer_sizes(loaded.model, loaded.architecture), found.attended[0]
    return Build(
        loaded.architecture.family,
        sizes.depth,
        sizes.heads,
        found.states.shape[-1],
        found.layers[0].inner.shape[-1],
        attended.query.shape[-1],
        len(loaded.tokenizer),
        sizes.looks_back,
        sizes.norm_first,
        sizes.distinct < sizes.depth,
        loaded.architecture.disentangled,
        sizes.gated,
        sizes.norm,
        sizes.activation,
    )
