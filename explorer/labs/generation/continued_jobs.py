"""Texts continued by several decodings at once, a result a token, and the distribution of one next token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.generation.continued import ContinueParams, ContinueResult, NextParams, NextResult, Written
from explorer.labs.generation.continued_compute import Beams, Beginning, Place, Reader, Sampled, Step, next_result

Decoder = Sampled | Beams


def continue_text(resources: Resources, params: ContinueParams) -> Iterator[ContinueResult]:
    """Continue a text by several decodings, in one batch; a result a token.

    All share one random number a step, from one generator, so that a row doesn't depend on which others stand beside
    it.
    """
    yield from continued(Reader(resources.model(params.model)), params)


def continued(reader: Reader, params: ContinueParams) -> Iterator[ContinueResult]:
    """Continue as continue_text does, by a reader of one's own."""
    beginning = reader.begin(params.text, params.branch)
    room = reader.room(beginning)
    count, dice = min(params.tokens, room), torch.Generator().manual_seed(params.seed)
    branch, first = _beginning_read(reader, beginning)
    decoders = [_decoder(name, params, reader, branch) for name in params.decoding]
    # The first that samples: its choices are worth a look.
    watched = next((one for one in decoders if one.decoding not in ("greedy", "beam")), decoders[0])
    scores, places = first, [[0] for _ in decoders]  # after the text all decodings have the same row
    opening: Place | None = None
    for step in range(1, count + 1):
        at = float(torch.rand(1, generator=dice, dtype=torch.float64))
        # A decoding without rows has ended.
        picked = [
            decoder.step(scores[own], at) if own else list[Step]()
            for decoder, own in zip(decoders, places, strict=True)
        ]
        if places[decoders.index(watched)]:
            place = _place(watched, beginning, scores[places[decoders.index(watched)]])
        opening = opening or place  # kept for the end: the row's first choice
        done = step == count or not any(picked)
        told = next_result(reader, opening if done else place, params)
        cut = room if room < params.tokens else None
        rows = tuple(decoder.row for decoder in decoders)
        yield ContinueResult(params.model, params, beginning.text, rows, step, count, cut, done, told)
        if done:
            return
        scores, places = _read_on(reader, picked, places)


def next_token(resources: Resources, params: NextParams) -> NextResult:
    """Compute the distribution of the token after a text and a branch.

    Raises BadInputError for a chosen token that is never written.
    """
    reader = Reader(resources.model(params.model))
    beginning = reader.begin(params.text, params.branch)
    if params.chosen is not None:
        known = len(reader.loaded.tokenizer)
        if params.chosen >= known or params.chosen in reader.never:
            raise BadInputError(f"chosen takes the id of a token that may be written, 0 to {known - 1:,}, or nothing.")
    scores = reader.read([beginning.ids])[0, -1]  # (1, 1, vocabulary) to (vocabulary,)
    return next_result(reader, Place(beginning, params.decoding, scores, params.chosen), params)


def _decoder(name: str, params: ContinueParams, reader: Reader, branch: tuple[Written, ...]) -> Decoder:
    return Beams(params, reader, branch) if name == "beam" else Sampled(name, params, reader, branch)


def _beginning_read(reader: Reader, beginning: Beginning) -> tuple[tuple[Written, ...], Tensor]:
    """Return the branch's tokens with their ln p, and ln p of the token after them: (1, vocabulary)."""
    # From the text's last token on: (branch + 1, vocabulary).
    scores = reader.read([beginning.ids], keep=len(beginning.branch) + 1)[0]
    pairs = zip(scores[:-1], beginning.branch, strict=True)
    return tuple(reader.written(row, token, by_hand=True) for row, token in pairs), scores[-1:]


def _read_on(
    reader: Reader, picked: Sequence[Sequence[Step]], places: Sequence[Sequence[int]]
) -> tuple[Tensor, list[list[int]]]:
    """Read what was picked. Return ln p of the next tokens, (rows, vocabulary), and each decoding's rows."""
    parents = [own[step.parent] for steps, own in zip(picked, places, strict=True) for step in steps]
    tokens = [[step.token] for steps in picked for step in steps]
    found, start = list[list[int]](), 0
    for steps in picked:
        found.append(list(range(start, start + len(steps))))
        start += len(steps)
    return reader.read(tokens, parents)[:, -1], found


def _place(decoder: Decoder, beginning: Beginning, scores: Tensor) -> Place:
    """Return the place at which a decoding has just chosen; scores: of its rows."""
    own = decoder.row.own
    ended = decoder.row.ended is not None
    path, chosen = (own, None) if ended else (own[:-1], own[-1].token_id)  # the place is before the chosen token
    branch = beginning.branch + tuple(token.token_id for token in path)
    return Place(replace(beginning, branch=branch), decoder.decoding, scores[decoder.seen], chosen)
