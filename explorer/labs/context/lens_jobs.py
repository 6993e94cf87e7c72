"""The logit lens: the model's own head, read at every layer (nostalgebraist 2020, "interpreting GPT: the logit lens")."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.labs.context.lens import (
    MOST_PLACES,
    Guess,
    LayerReading,
    LensParams,
    LensResult,
    LensToken,
    Place,
    Standing,
)
from explorer.models.catalog import bundled_with
from explorer.models.encoding import Encoded, asked_texts, encode, single_token
from explorer.models.families import Capability
from explorer.models.heads import head_at_each_layer
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, question_of_tokens, scores


def logit_lens(loaded: LoadedModel, params: LensParams) -> LensResult:
    """Apply the head to the states of each layer, at every mask, at every word (replaced tokens) or after the last token.

    Row k reads the states after k layers through whatever stands between the last layer and the scores, GPT-2's last
    LayerNorm included; the last row is the model's own answer. Without a place to look at, the result says
    why.
    """
    asked = question_of_tokens(loaded)
    if asked is None:
        return _nothing(
            loaded,
            f"{loaded.model_id} has no head that names tokens, so no layer can be read through it. "
            f"Choose {bundled_with(Capability.MLM)[0]}, which can.",
        )
    encoded, cut = _encoded(loaded, params.text)
    places = asked.places(loaded, encoded)
    if not places and asked.needs is Capability.MLM:
        return _nothing(
            loaded, f"Nothing is masked: put {loaded.tokenizer.mask_token} where a word is missing.", encoded
        )
    if not places:
        return _nothing(loaded, "This text is made of special tokens only. Type some words.", encoded)
    if asked.needs is Capability.MLM and len(places) > MOST_PLACES:
        raise BadInputError(f"This text has {len(places)} masks, and the lens looks at {MOST_PLACES} at once at most.")
    followed, refused = _followed(loaded, asked, params.follow)
    logits = scores(asked, loaded, head_at_each_layer(loaded, encoded.inputs, places))  # (depth + 1, places, classes)
    found = tuple(
        # Double, since the divergence of near-equal layers is lost in float32.
        _place(loaded, asked, position, logits[:, number].double().log_softmax(-1).cpu(), params.top_k, followed)
        for number, position in enumerate(places)
    )
    return LensResult(
        loaded.model_id,
        asked.slug,
        cut,
        params.top_k,
        class_name(asked, loaded, followed) if followed is not None else None,
        refused,
        logits.shape[-1],
        _tokens(encoded, places),
        found,
    )


def _nothing(loaded: LoadedModel, problem: str, encoded: Encoded | None = None) -> LensResult:
    """Return a result that shows the text, if there is one, and says what is missing."""
    tokens = _tokens(encoded, []) if encoded is not None else ()
    return LensResult(loaded.model_id, "mask", False, 0, None, "", 0, tokens, (), problem)


def _tokens(encoded: Encoded, places: list[int]) -> tuple[LensToken, ...]:
    return tuple(
        LensToken(t.position, t.text, t.shown, t.joined, t.word is None, t.position in places) for t in encoded.tokens
    )


def _encoded(loaded: LoadedModel, text: str) -> tuple[Encoded, bool]:
    """Encode the text; a left-to-right model reads what stands before the mask, and continues it."""
    read, _, cut = asked_texts(loaded, text)
    return encode(loaded, read), cut


def _followed(loaded: LoadedModel, asked: Question, word: str) -> tuple[int | None, str]:
    """Return the class that a visitor's word names, or none and a sentence that says why; the lens works without one."""
    if not word:
        return None, ""
    if asked.classes:
        if word in asked.classes:
            return asked.classes.index(word), ""
        return None, f"This head chooses between {' and '.join(asked.classes)}, so “{word}” cannot be followed."
    token, why = single_token(loaded.tokenizer, word)
    return token, why and f"{why}: follow another word."


def _place(
    loaded: LoadedModel, asked: Question, position: int, rows: Tensor, top_k: int, followed: int | None
) -> Place:
    """Read one position. rows: ln p of each layer, (depth + 1, classes), double precision."""
    answer = int(rows[-1].argmax())
    final = rows[-1].exp()
    layers = tuple(
        LayerReading(
            layer,
            _guesses(loaded, asked, row, top_k),
            _standing(row, answer),
            None if followed is None else _standing(row, followed),
            _divergence(final, rows[-1], row),
        )
        for layer, row in enumerate(rows)
    )
    return Place(position, class_name(asked, loaded, answer), layers)


def _guesses(loaded: LoadedModel, asked: Question, row: Tensor, top_k: int) -> tuple[Guess, ...]:
    best = row.topk(min(top_k, len(row)))
    return tuple(
        Guess(rank, class_name(asked, loaded, token), math.exp(value))
        for rank, (token, value) in enumerate(zip(best.indices.tolist(), best.values.tolist(), strict=True), start=1)
    )


def _standing(row: Tensor, token: int) -> Standing:
    # Of equal ones each has the better rank.
    return Standing(1 + int((row > row[token]).sum()), float(row[token].exp()))


def _divergence(final: Tensor, log_final: Tensor, row: Tensor) -> float:
    """Return KL(final ‖ row) = Σ p ln(p / q), in bits; 0 ln 0 is 0."""
    terms = torch.where(final > 0, final * (log_final - row), 0.0)
    return max(0.0, float(terms.sum()) / math.log(2))  # rounding may take it below 0
