"""Activation patching of two sentences that differ in a word: one state carried over at a time."""

from __future__ import annotations

import torch
from torch import Tensor

from explorer.errors import BadInputError, MissingCapabilityError
from explorer.labs.context.patch import MOST_CARRIED, Carried, PatchParams, PatchResult
from explorer.models.encoding import Encoded, asked_texts, encode, single_token
from explorer.models.families import Capability
from explorer.models.inside import depth_of
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, question_of_tokens, scores
from explorer.models.whole_pass import WholePass, patched, values_of, whole_pass

LEAST_APART = 1e-3
"""Logits: below it the two sentences answer alike, and no share of nothing can be told."""


def patch_activations(loaded: LoadedModel, params: PatchParams) -> PatchResult:
    """Carry each state of the second sentence over into the first, and tell how much of the answer comes with it.

    A share is (d − d₀) / (d₁ − d₀), where d is the difference of the two answers' logits, d₀ in the first sentence and
    d₁ in the second: 0 is no change, 1 the second sentence's answer (Zhang and Nanda 2024, section 2). Raises
    BadInputError for sentences of different lengths, or that answer alike.
    """
    asked = _question(loaded)
    base, source = (encode(loaded, asked_texts(loaded, text)[0]) for text in (params.base, params.source))
    changed, place = _compared(loaded, asked, base, source)
    passes = [whole_pass(loaded, encoded.inputs, [place]) for encoded in (base, source)]
    last = [scores(asked, loaded, found.output)[-1, 0].float().cpu() for found in passes]  # (classes,) each
    pair = _answers(loaded, asked, params.answers, last)
    start, end = (float(one[pair[1]] - one[pair[0]]) for one in last)
    if abs(end - start) < LEAST_APART:
        raise BadInputError(
            "Both sentences answer alike, so nothing can come across. Change another word, or name two answers."
        )
    generator = torch.Generator().manual_seed(params.seed)
    layers = []
    for layer in range(depth_of(loaded.model)):
        found = _carried(loaded, asked, base, passes, params.part, layer, place, generator)
        apart = (found[:, pair[1]] - found[:, pair[0]]).double()  # (2 · length,)
        # A float32 logit is known to about six digits.
        shares = ((apart - start) / (end - start)).round(decimals=5).tolist()
        layers.append(Carried(layer, tuple(shares[: len(base.tokens)]), tuple(shares[len(base.tokens) :])))
    likely = [one.softmax(-1) for one in last]
    return PatchResult(
        loaded.model_id,
        params.part,
        tuple(token.shown for token in base.tokens),
        tuple(token.shown for token in source.tokens),
        tuple(changed),
        place,
        (class_name(asked, loaded, pair[0]), class_name(asked, loaded, pair[1])),
        (
            (float(likely[0][pair[0]]), float(likely[0][pair[1]])),
            (float(likely[1][pair[0]]), float(likely[1][pair[1]])),
        ),
        tuple(layers),
        pair,
    )


def _question(loaded: LoadedModel) -> Question:
    asked = question_of_tokens(loaded)
    if asked is not None and not asked.classes:
        return asked
    raise MissingCapabilityError(
        f"{loaded.model_id} names no words, so it has no answer that could come across.",
        Capability.MLM.name,
        loaded.architecture.model_type,
    )


def _compared(loaded: LoadedModel, asked: Question, base: Encoded, source: Encoded) -> tuple[list[int], int]:
    """Return where the sentences differ, and where the head reads. Raises BadInputError."""
    lengths = len(base.tokens), len(source.tokens)
    if lengths[0] != lengths[1]:
        raise BadInputError(
            f"The sentences have {lengths[0]} and {lengths[1]} tokens, so their states have no common places. "
            "Take a word of as many pieces as the one that it stands for."
        )
    if lengths[0] > MOST_CARRIED:
        raise BadInputError(f"These are {lengths[0]} tokens, and {MOST_CARRIED} are the most. Take shorter sentences.")
    places = asked.places(loaded, base)
    if not places:
        raise BadInputError(f"Nothing is asked yet: put {loaded.tokenizer.mask_token} where a word is missing.")
    if asked.places(loaded, source)[:1] != places[:1]:
        raise BadInputError("The blank has to stand at the same place in both sentences.")
    changed = [i for i in range(lengths[0]) if base.tokens[i].token_id != source.tokens[i].token_id]
    if not changed:
        raise BadInputError("The two sentences are the same. Change a word of the second.")
    return changed, places[0]


def _answers(
    loaded: LoadedModel, asked: Question, wished: tuple[str, ...] | str, last: list[Tensor]
) -> tuple[int, int]:
    if not wished:
        first, second = (int(one.argmax()) for one in last)
        if first == second:
            name = class_name(asked, loaded, first).strip()
            raise BadInputError(f"Both sentences are answered by “{name}” first. Name two answers, such as is, are.")
        return first, second
    if len(wished) != 2:
        raise BadInputError(f"Two answers are compared, and {len(wished)} came. Write them with a comma: is, are.")
    found = []
    for word in wished:
        token, why = single_token(loaded.tokenizer, word)
        if token is None:
            raise BadInputError(f"{why}: take another word.")
        found.append(token)
    return found[0], found[1]


def _carried(
    loaded: LoadedModel,
    asked: Question,
    base: Encoded,
    passes: list[WholePass],
    part: str,
    layer: int,
    place: int,
    generator: torch.Generator,
) -> Tensor:
    """Return the head's logits, (2 · length, classes): a token's state carried over in each row, then noise in its place."""
    own, other = (values_of(found, part, layer) for found in passes)  # (length, width)
    step = torch.randn(own.shape, generator=generator)
    noisy = own + step * ((other - own).norm(dim=-1) / step.norm(dim=-1))[:, None]  # as far, in another direction
    here = torch.eye(len(own), dtype=torch.bool)
    values = torch.cat([other.expand(len(own), -1, -1), noisy.expand(len(own), -1, -1)])
    output = patched(loaded, base.inputs, part, layer, torch.cat([here, here]), values, place)
    return scores(asked, loaded, output)[:, 0].float().cpu()
