"""One blank as different readers see it: what is hidden, from whom, and what a head says there.

Which positions may look at which is told to the model by a 4-D attention mask that is added to the scores before the softmax:
0 where a position may look, the least number where not, so that the weight there is exactly 0 (Vaswani et al. 2017,
section 3.2.3). The model's weights stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from explorer.engine.resources import Resources
from explorer.errors import BadInputError
from explorer.labs.directions.schema import DECODER, ENCODER, MOST_READ, READERS, Guess, Reading
from explorer.models.encoding import Encoded, Token, encode
from explorer.models.families import Capability
from explorer.models.inside import private_tree
from explorer.models.loaded_model import LoadedModel
from explorer.text import MASK_SPELLINGS

GUESSES = 5
HEADS = {ENCODER: Capability.MLM, DECODER: Capability.CAUSAL}


@dataclass(frozen=True)
class Seen:
    """A sentence as one reader gets it.

    ids: (length,). sight: (length, length), whether row i may look at column j. place: the position whose state answers.
    truth: the token that is right there.
    """

    ids: Tensor
    sight: Tensor
    place: int
    truth: int


@dataclass(frozen=True)
class Blank:
    """A sentence with one word hidden. places: of the word's pieces among bert-small's tokens; seen: in the order of READERS."""

    encoded: Encoded
    places: tuple[int, ...]
    word: str
    seen: tuple[Seen, ...]


def sight_of(context: str, length: int, place: int) -> Tensor:
    """Return which positions may look at which, booleans (length, length), if the word at `place` is predicted from one
    side or both.

    left: each sees itself and what stands before it. right: none sees what stands before the blank, but for [CLS] at 0.
    """
    at = torch.arange(length)
    if context == "left":
        return at[None, :] <= at[:, None]  # the lower triangle
    if context == "right":
        return ((at >= place) | (at == 0)).expand(length, length)  # the same for each row
    return torch.ones(length, length, dtype=torch.bool)


def added(sight: Tensor) -> Tensor:
    """Return what is added to the scores: 0 if sight is true, else the least number."""
    # Not -inf: a row of padding sees nothing, and its softmax would be nan.
    return torch.zeros(sight.shape).masked_fill(~sight, torch.finfo(torch.float32).min)


def hide(resources: Resources, text: str, position: int | None = None, start: int | None = None) -> Blank:
    """Return the sentence as each reader gets it, with the word at a token, or at a character, hidden.

    Raises BadInputError for a sentence that is too long, has a blank already, or has no such word.
    """
    if MASK_SPELLINGS.search(text):
        raise BadInputError("Write the word itself in place of the mask: it is hidden for you, and its rank is told.")
    encoder = resources.model(ENCODER)
    encoded = encode(encoder, text)
    if len(encoded.tokens) > MOST_READ:
        raise BadInputError(
            f"This is {len(encoded.tokens)} tokens long, and {MOST_READ} are the most here. Take one sentence."
        )
    if start is not None:
        position = next(token.position for token in encoded.tokens if token.word is not None and token.start == start)
    pieces = _pieces(encoder, encoded, position)
    places = tuple(piece.position for piece in pieces)
    ids = encoded.input_ids.clone()  # the sentence as it is is shown as well
    ids[list(places)] = int(encoder.tokenizer.mask_token_id)
    first, length = places[0], len(ids)
    bert = [
        Seen(ids, sight_of(context, length, first), first, pieces[0].token_id)
        for context, model in READERS
        if model == ENCODER
    ]
    word = text[pieces[0].start : pieces[-1].stop]
    return Blank(encoded, places, word, (_continued(resources.model(DECODER), text, pieces[0].start), *bert))


def _pieces(encoder: LoadedModel, encoded: Encoded, position: int | None) -> list[Token]:
    """Return the tokens of the word at a position, or of the one after the middle. Raises BadInputError if there is
    none.
    """
    unknown = encoder.tokenizer.unk_token_id
    if position is None:
        known = [t for t in encoded.tokens if t.word is not None and t.token_id != unknown and not t.joined]
        # A full stop only if there is nothing else.
        words = [token for token in known if any(map(str.isalnum, token.shown))] or known
        if not words:
            raise BadInputError(f"{ENCODER} knows no word of this text. Type an English sentence.")
        position = words[min(len(words) - 1, (len(words) + 1) // 2)].position
    token = encoded.tokens[position] if position < len(encoded.tokens) else None
    if token is None or token.word is None:
        last = len(encoded.tokens) - 2  # without [CLS] at 0 and [SEP] at the end
        raise BadInputError(f"Position {position} holds no word of this text. Its words are at positions 1 to {last}.")
    if token.token_id == unknown:
        raise BadInputError(f"{ENCODER} does not know the word at position {position}. Hide another one.")
    return [other for other in encoded.tokens if other.word == token.word]


def _continued(decoder: LoadedModel, text: str, start: int) -> Seen:
    """Return the sentence as the left-to-right model reads it, which answers from the token before the word.

    The token that stands between texts in its training comes first, so that the first word has one before it too.
    """
    encoded = encode(decoder, text)
    if len(encoded.tokens) >= decoder.longest:  # one more token comes first
        raise BadInputError(f"This is too long for {DECODER}, which reads {decoder.longest} tokens. Take one sentence.")
    # Counted without the first token, so among all it is the position before the word.
    place = next(token.position for token in encoded.tokens if token.stop > start)
    ids = torch.cat([torch.tensor([int(decoder.tokenizer.bos_token_id)]), encoded.input_ids])
    return Seen(ids, sight_of("left", len(ids), place), place, encoded.tokens[place].token_id)


def log_probabilities(loaded: LoadedModel, rows: Sequence[Seen]) -> Tensor:
    """Compute ln p over the vocabulary at each row's place, (rows, vocabulary), in double precision and one padded
    batch.
    """
    ids = pad_sequence([row.ids for row in rows], batch_first=True)
    sight = torch.zeros(len(rows), 1, ids.shape[1], ids.shape[1], dtype=torch.bool)  # one for all heads
    for number, row in enumerate(rows):
        sight[number, 0, : len(row.ids), : len(row.ids)] = row.sight
    places = torch.tensor([row.place for row in rows], device=loaded.device)
    # sdpa: no attentions are read here, and eager is slower.
    tree = private_tree(loaded.model, "sdpa")

    def only_places(module: Any, given: Any, output: Any) -> Any:
        states = output.last_hidden_state
        # (rows, 1, width), for a head that need not score the rest.
        output.last_hidden_state = states[torch.arange(len(rows), device=states.device), places][:, None]
        return output

    tree.get_submodule(loaded.architecture.layers.body).register_forward_hook(only_places)
    output = tree(input_ids=ids.to(loaded.device), attention_mask=added(sight).to(loaded.device))
    return loaded.logits(HEADS[loaded.model_id], output)[:, 0].double().log_softmax(-1).cpu()


def read_blanks(resources: Resources, blanks: Sequence[Blank]) -> list[tuple[Reading, ...]]:
    """Read each blank as the four readers do; one batch a model."""
    found: dict[tuple[int, int], Reading] = {}
    for name in (DECODER, ENCODER):
        loaded = resources.model(name)
        asked = [
            (number, reader)
            for number in range(len(blanks))
            for reader, (_, model) in enumerate(READERS)
            if model == name
        ]
        rows = [blanks[number].seen[reader] for number, reader in asked]  # the decoder's rows, then the encoder's
        for key, row, scores in zip(asked, rows, log_probabilities(loaded, rows), strict=True):
            found[key] = _reading(loaded, READERS[key[1]][0], row.truth, scores)
    return [tuple(found[number, reader] for reader in range(len(READERS))) for number in range(len(blanks))]


def _reading(loaded: LoadedModel, context: str, truth: int, row: Tensor) -> Reading:
    """Make a reading of one distribution. row: ln p, (vocabulary,)."""
    best = row.topk(GUESSES)
    return Reading(
        context,
        loaded.model_id,
        str(loaded.tokenizer.decode([truth])),
        1 + int((row > row[truth]).sum()),
        float(row[truth].exp()),
        float(torch.special.entr(row.exp()).sum()),  # -p ln p, which is 0 at 0
        len(row),
        tuple(
            Guess(str(loaded.tokenizer.decode([token])), probability)
            for token, probability in zip(best.indices.tolist(), best.values.exp().tolist(), strict=True)
        ),
    )
