"""The directions lab's jobs: a blank filled from each side, and the way of a word to its own prediction."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

from torch import Tensor

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.directions.compute import Blank, Seen, added, hide, log_probabilities, read_blanks, sight_of
from explorer.labs.directions.examples import FIFTY
from explorer.labs.directions.schema import (
    ENCODER,
    READERS,
    AnswerResult,
    Chip,
    DirectionsParams,
    DirectionsResult,
    FiftyParams,
    FiftyResult,
    LossCurve,
    Paths,
    ProofParams,
    ProofResult,
    Sight,
    SightParams,
    SightResult,
    Told,
)
from explorer.maths.attention import rollout, with_residual
from explorer.models.inside import Reading, depth_of, read
from explorer.models.loaded_model import LoadedModel
from explorer.runs.examples import LEAK
from explorer.settings import BUNDLED_RUNS

AT_ONCE = 10
"""Sentences in one batch."""


def directions(resources: Resources, params: DirectionsParams) -> DirectionsResult:
    """Rank the hidden word from the left (two models), from the right, and from both sides, with its probability."""
    blank = hide(resources, params.text, params.position)
    (readings,) = read_blanks(resources, [blank])
    return DirectionsResult(params.text, blank.word, blank.places[0], len(blank.places), _chips(blank), readings)


def _chips(blank: Blank) -> tuple[Chip, ...]:
    return tuple(
        Chip(
            token.position,
            token.text,
            token.shown,
            token.joined,
            token.position in blank.places,
            token.word is not None,
        )
        for token in blank.encoded.tokens
    )


def directions_of_fifty(resources: Resources, params: FiftyParams) -> Iterator[FiftyResult]:
    """Read a hidden word of each of fifty sentences, from every side, ten at a time; each result has those that are
    done.
    """
    told: tuple[Told, ...] = ()
    for start in range(0, len(FIFTY), AT_ONCE):
        asked = FIFTY[start : start + AT_ONCE]
        blanks = [hide(resources, one.text, start=one.start) for one in asked]
        told += tuple(
            Told(number, *one, readings)
            for number, (one, readings) in enumerate(
                zip(asked, read_blanks(resources, blanks), strict=True), start=start + 1
            )
        )
        yield FiftyResult(told, len(FIFTY))


def attention_of_directions(resources: Resources, params: SightParams) -> SightResult:
    """Read the attention of one layer, mean over its heads, under each reader's mask. A model with fewer layers shows
    its last.

    Raises BadInputError for a layer that bert-small does not have.
    """
    depth = depth_of(resources.model(ENCODER).model)
    if params.layer >= depth:
        raise BadInputError(f"{ENCODER} has no layer {params.layer}. Its layers are 0 to {depth - 1}.")
    blank = hide(resources, params.text, params.position)
    sights = tuple(
        _sight(resources.model(model), context, seen, params.layer)
        for (context, model), seen in zip(READERS, blank.seen, strict=True)
    )
    return SightResult(params.text, blank.word, blank.places[0], sights)


def _sight(loaded: LoadedModel, context: str, seen: Seen, layer: int) -> Sight:
    layer = min(layer, depth_of(loaded.model) - 1)  # the decoder has fewer
    weights = _read(loaded, seen.ids, seen.sight).attentions[layer][0].mean(0).tolist()  # (heads, n, n) to (n, n)
    shown = tuple(
        tuple(weight if may else None for weight, may in zip(row, allowed, strict=True))
        for row, allowed in zip(weights, seen.sight.tolist(), strict=True)
    )
    names = tuple(str(loaded.tokenizer.decode([token])) for token in seen.ids.tolist())
    return Sight(context, loaded.model_id, layer, names, seen.place, shown)


def _read(loaded: LoadedModel, ids: Tensor, sight: Tensor) -> Reading:
    return read(loaded, {"input_ids": ids[None], "attention_mask": added(sight)[None, None]})  # (1, n) and (1, 1, n, n)


def answer_in_view(resources: Resources, params: DirectionsParams) -> AnswerResult:
    """Measure how much of a word reaches the position before it, which would have to predict it, without and with a
    causal mask.
    """
    encoder = resources.model(ENCODER)
    blank = hide(resources, params.text, params.position)
    ids, place = blank.encoded.input_ids, blank.places[0]
    paths = tuple(_paths(encoder, mask, ids, place) for mask in ("both", "left"))
    seen, masked = _with_and_without(encoder, blank)
    return AnswerResult(params.text, blank.word, place, _chips(blank), paths, seen, masked)


def _paths(loaded: LoadedModel, mask: str, ids: Tensor, place: int) -> Paths:
    """Follow the ways through the text as it is, and through the same with [MASK] at `place`."""
    sight, changed = sight_of(mask, len(ids), place), ids.clone()
    changed[place] = int(loaded.tokenizer.mask_token_id)
    reading, other = _read(loaded, ids, sight), _read(loaded, changed, sight)
    flows = [flow[0] for flow in rollout(reading.attentions)]  # (n, n) each
    states = zip(reading.hidden_states[1:], other.hidden_states[1:], strict=True)  # without the embeddings
    first, second = (with_residual(layer)[0] for layer in reading.attentions[:2])
    by_way_of = second[place - 1] * first[:, place]  # (n,): by way of each position
    by_way_of[[place - 1, place]] = 0  # these two are no detours
    return Paths(
        {"both": "none", "left": "causal"}[mask],
        tuple(tuple(map(tuple, flow.tolist())) for flow in flows),
        tuple(float(layer[0, :, place - 1, place].mean()) for layer in reading.attentions),  # (heads,)
        tuple(float(flow[place - 1, place]) for flow in flows),
        tuple(float((new - old)[0, place - 1].norm() / old[0, place - 1].norm()) for old, new in states),
        float(by_way_of.sum()),
    )


def _with_and_without(loaded: LoadedModel, blank: Blank) -> tuple[float, float]:
    """Return the probability of the word's first piece at its own place, with the word in the input and with [MASK]
    there.
    """
    hidden = blank.seen[-1]  # the reader of both sides
    rows = [dataclasses.replace(hidden, ids=blank.encoded.input_ids), hidden]
    shown, masked = log_probabilities(loaded, rows)[:, hidden.truth].exp().tolist()
    return shown, masked


def next_token_proof(params: ProofParams) -> ProofResult:
    """Read the curves of the two bundled trainings, which differ in the causal mask alone."""
    free, causal = (LossCurve(mask, _points(run_id)) for mask, run_id in zip(("none", "causal"), LEAK, strict=True))
    return ProofResult((free, causal))


def _points(run_id: str) -> tuple[tuple[int, float, float], ...]:
    record = json.loads((BUNDLED_RUNS / run_id / "record.json").read_text(encoding="utf-8"))
    return tuple((step, values["next_loss"], values["accuracy"]) for step, values in record["evaluations"])
