"""Heads switched off: what a model says with and without them (Michel et al. 2019, section 2: a gate of 0 on a head's output)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from explorer.errors import BadInputError
from explorer.kinds import Head
from explorer.labs.attention.head import TokenPlace
from explorer.labs.attention.head_jobs import encoded_pair
from explorer.labs.attention.switch import (
    AblateParams,
    AblateResult,
    AblateRunParams,
    AnswerChange,
    EachHeadParams,
    EachHeadResult,
)
from explorer.models.encoding import Encoded, asked_texts, encode
from explorer.models.inside import check_place, depth_of, heads_of, modules_with_role, read
from explorer.models.loaded_model import LoadedModel
from explorer.models.questions import Question, class_name, fitting_question, question, scores
from explorer.tuning.merging import as_loaded

if TYPE_CHECKING:
    from explorer.runs.open import OpenRuns

TOKENS_AT_ONCE = 4096
"""Of a batch in which each row lacks another head."""

MOST_ROWS_OF_TOKENS = 16_384
"""Tokens times heads: what is computed for one visitor at most when every head is tried."""


def ablate_heads(loaded: LoadedModel, params: AblateParams) -> AblateResult:
    """Switch heads off and ask again: the text's own question (explorer.models.questions) before and after."""
    encoded = _asked(loaded, params.text, params.sentence_b)
    asked = fitting_question(loaded, encoded, bool(params.sentence_b))
    return _compared(loaded, encoded, asked, params.heads, params.everywhere, params.top_k)


def _asked(loaded: LoadedModel, text: str, second: str) -> Encoded:
    """Encode as encoded_pair does; a model that continues a text reads it up to its blank."""
    first, other, _ = asked_texts(loaded, text, second)
    return encode(loaded, first, other or None)


def ablate_run_heads(open_run: OpenRuns, params: AblateRunParams) -> AblateResult:
    """Switch heads of a fine-tuned classifier off, and ask again. Raises BadInputError for a run without classes."""
    run = open_run(params.run)
    run.require_weights()
    if not run.record.labels:
        raise BadInputError(
            f"{run.record.name} has no classes (it gives a score or fills masks): choose a run on a task with classes."
        )
    loaded = as_loaded(run.restore(), run.record.name)
    encoded = encoded_pair(loaded, params.sentence_a, params.sentence_b)
    # The run's labels, not the model's.
    asked = dataclasses.replace(question("class"), classes=tuple(run.record.labels))
    return _compared(loaded, encoded, asked, params.heads, params.everywhere, len(run.record.labels))


def each_head(loaded: LoadedModel, params: EachHeadParams) -> EachHeadResult:
    """Switch every head off alone, all of them in a few batches, and follow one answer: the likeliest at the first place, or
    for replaced tokens that of the likeliest one.

    Raises BadInputError if the text is too long for that.
    """
    encoded = _asked(loaded, params.text, params.sentence_b)
    asked = fitting_question(loaded, encoded, bool(params.sentence_b))
    depth, heads, length = depth_of(loaded.model), heads_of(loaded.model), len(encoded.tokens)
    if depth * heads * length > MOST_ROWS_OF_TOKENS:
        most = MOST_ROWS_OF_TOKENS // (depth * heads)
        raise BadInputError(
            f"Trying each of {depth * heads} heads takes as many passes. Do it with at most {most} tokens; this has {length}."
        )
    all_before = _probabilities(asked, loaded, encoded.inputs, None)[0]
    place, best, answer = _followed(asked, loaded, encoded, all_before)
    before = all_before[place]
    gates = torch.ones(depth * heads, depth, heads)  # one row of gates for each head
    gates.view(depth * heads, -1).fill_diagonal_(0)  # row i, flattened, lacks head i
    rows = max(1, TOKENS_AT_ONCE // length)
    after: list[float] = []
    for part in gates.split(rows):
        repeated = {name: tensor.repeat(len(part), 1) for name, tensor in encoded.inputs.items()}  # (rows, n)
        after += _probabilities(asked, loaded, repeated, part)[:, place, best].tolist()  # (rows, places, classes)
    grid = tuple(tuple(after[layer * heads : (layer + 1) * heads]) for layer in range(depth))
    return EachHeadResult(loaded.model_id, place, answer, float(before[best]), grid, asked.slug, _is_shared(loaded))


def _followed(asked: Question, loaded: LoadedModel, encoded: Encoded, probabilities: Tensor) -> tuple[int, int, str]:
    """Return the place, the class and the name of the answer to follow; probabilities: (places, classes)."""
    places = asked.places(loaded, encoded)
    # Classes are original and replaced: the second is the judgement that is followed.
    if asked.slug == "replaced":
        place = max(places, key=lambda position: float(probabilities[position, 1]))
        return place, 1, f"{encoded.tokens[place].shown} replaced"
    best = int(probabilities[places[0]].argmax())
    return places[0], best, class_name(asked, loaded, best)


def _compared(
    loaded: LoadedModel, encoded: Encoded, asked: Question, off: tuple[Head, ...], everywhere: bool, top_k: int
) -> AblateResult:
    depth, heads = depth_of(loaded.model), heads_of(loaded.model)
    for layer, head in off:
        check_place(loaded, layer, head)
    shared = _is_shared(loaded)
    if shared and everywhere:
        # The same heads at every depth.
        off = tuple(sorted({(layer, head) for layer in range(depth) for _, head in off}))
    gates = torch.ones(depth, heads)
    for layer, head in off:
        gates[layer, head] = 0.0
    before = _probabilities(asked, loaded, encoded.inputs, None)[0]
    # No second pass while every head is on.
    after = _probabilities(asked, loaded, encoded.inputs, gates)[0] if off else before
    places = asked.places(loaded, encoded)
    answers = [
        change for place in places for change in _changes(asked, loaded, place, before[place], after[place], top_k)
    ]
    tokens = tuple(TokenPlace(t.position, t.text, t.shown, t.joined, t.word is None) for t in encoded.tokens)
    return AblateResult(
        loaded.model_id, asked.slug, asked.title, tokens, depth, heads, off, shared, tuple(answers),
        _divergence(before[places], after[places]),
    )  # fmt: skip


def _is_shared(loaded: LoadedModel) -> bool:
    """Say whether one layer's weights serve at every depth, as ALBERT's do."""
    return len(modules_with_role(loaded.model, loaded.architecture, "output")) < depth_of(loaded.model)


def _probabilities(asked: Question, loaded: LoadedModel, inputs: dict[str, Tensor], gates: Tensor | None) -> Tensor:
    """Return probabilities (rows, places, classes) in float32, on the CPU."""
    output = read(loaded, inputs, gates, attentions=False).output
    return scores(asked, loaded, output).float().softmax(-1).cpu()


def _changes(
    asked: Question, loaded: LoadedModel, place: int, before: Tensor, after: Tensor, top_k: int
) -> list[AnswerChange]:
    """Return the likeliest answers of either side, (classes,) each; for replaced tokens the one that matters."""
    if asked.slug == "replaced":
        numbers = [1]
    else:
        count = min(top_k, len(before))
        # Each once, with those from before first.
        numbers = list(dict.fromkeys([*before.topk(count).indices.tolist(), *after.topk(count).indices.tolist()]))
    return [
        AnswerChange(place, class_name(asked, loaded, number), float(before[number]), float(after[number]))
        for number in numbers
    ]


def _divergence(before: Tensor, after: Tensor) -> float:
    """Return KL(before ‖ after) in nats, the mean over places; (places, classes) each."""
    tiny = torch.finfo(before.dtype).tiny  # ln of an underflowed 0 would be infinite
    terms = torch.xlogy(before, before.clamp_min(tiny)) - torch.xlogy(before, after.clamp_min(tiny))
    return max(0.0, float(terms.sum(-1).mean()))  # rounding may take it below 0
