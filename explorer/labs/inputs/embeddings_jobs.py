"""The jobs on embeddings: the sum for every token, one token in detail, and the position table."""

from __future__ import annotations

from torch import Tensor
from torch.nn.functional import normalize

from explorer.errors import BadInputError
from explorer.labs.inputs.embeddings import (
    ADDED,
    MOST_POSITIONS,
    Neighbour,
    PositionsParams,
    PositionsResult,
    SumParams,
    SumPart,
    SumResult,
    SumToken,
    TokenPart,
    TokenPartsParams,
    TokenPartsResult,
)
from explorer.models.embeddings import Part, embedding_parts, table_of
from explorer.models.encoding import Encoded, encode
from explorer.models.inside import read
from explorer.models.loaded_model import LoadedModel

STRIP = 48
LONG_STRIP = 192
NEIGHBOURS = 8


def sum_parts(loaded: LoadedModel, params: SumParams) -> SumResult:
    """Compute all parts of all tokens, and how far their sum is from what the model itself gives to its first layer."""
    encoded = encode(loaded, params.sentence_a, params.second)
    parts = embedding_parts(loaded, encoded.inputs)
    # (T, width), double as the parts are.
    own = read(loaded, encoded.inputs, attentions=False).hidden_states[0][0].cpu().double()
    difference = float((parts[-1].values - own).abs().max())
    return SumResult(loaded.model_id, _tokens(encoded, parts), tuple(_strips(part) for part in parts), difference)


def token_parts(loaded: LoadedModel, params: TokenPartsParams) -> TokenPartsResult:
    """Compare one token's parts with their sum, and find what else in the vocabulary has an embedding like its own."""
    encoded = encode(loaded, params.sentence_a, params.second)
    if params.position >= len(encoded.tokens):
        raise BadInputError(
            f"There is no position {params.position}: this text has {len(encoded.tokens)} tokens, numbered from 0."
        )
    parts = embedding_parts(loaded, encoded.inputs)
    token = _tokens(encoded, parts)[params.position]
    total = next(part for part in parts if part.kind == "sum").values[params.position]
    shown = tuple(_of_one(part, params.position, total) for part in parts)
    return TokenPartsResult(loaded.model_id, token, shown, _neighbours(loaded, token.token_id))


def position_similarity(loaded: LoadedModel, params: PositionsParams) -> PositionsResult:
    """Compute the cosine of each position's embedding with each other's."""
    table = table_of(loaded, "position")
    if table is None:
        return PositionsResult(loaded.model_id, (), 0, ())
    usable = table[loaded.architecture.spare_positions :]  # RoBERTa's first rows are no positions
    positions = range(0, len(usable), params.step)[:MOST_POSITIONS]
    unit = normalize(usable[list(positions)].cpu().double(), dim=-1)
    cosines = (unit @ unit.T).clamp(-1, 1)  # rounding may pass 1
    return PositionsResult(
        loaded.model_id, tuple(positions), len(usable), tuple(tuple(row) for row in cosines.tolist())
    )


def _tokens(encoded: Encoded, parts: tuple[Part, ...]) -> tuple[SumToken, ...]:
    rows = {part.kind: part.rows.tolist() for part in parts if part.rows is not None}
    segments, places = rows.get("segment"), rows.get("position")
    return tuple(
        SumToken(
            token.position,
            token.token_id,
            token.text,
            token.shown,
            token.joined,
            token.word is None,
            segments[token.position] if segments else None,
            places[token.position] if places else None,
        )
        for token in encoded.tokens
    )


def _strips(part: Part) -> SumPart:
    dimensions = _spread(part.values.shape[-1], STRIP)
    norms = part.values.norm(dim=-1).tolist()
    strips = part.values[:, list(dimensions)].tolist()
    return SumPart(part.kind, part.values.shape[-1], tuple(norms), dimensions, tuple(tuple(row) for row in strips))


def _spread(width: int, most: int) -> tuple[int, ...]:
    """Return every so many dimensions, at most `most` of them."""
    return tuple(range(0, width, -(-width // most)))  # rounded up


def _of_one(part: Part, position: int, total: Tensor) -> TokenPart:
    vector = part.values[position]
    dimensions = _spread(len(vector), LONG_STRIP)
    cosine = share = None
    if part.kind in ADDED:
        along = float(vector @ total)
        size = float(vector.norm() * total.norm())
        cosine = along / size if size else 0.0
        share = along / float(total @ total)
    strip = tuple(vector[list(dimensions)].tolist())
    return TokenPart(part.kind, len(vector), float(vector.norm()), cosine, share, dimensions, strip)


def _neighbours(loaded: LoadedModel, token_id: int) -> tuple[Neighbour, ...]:
    """Return the pieces whose rows of the token table point most nearly in the same direction."""
    table = table_of(loaded, "token")
    assert table is not None  # every family looks its tokens up
    known = min(len(table), len(loaded.tokenizer))  # tables are often padded beyond the vocabulary
    own = table[token_id]
    lengths = table[:known].norm(dim=-1) * own.norm()
    cosines = (table[:known] @ own) / lengths.clamp_min(1e-12)  # a row of zeros has no direction
    cosines[token_id] = -2.0  # itself
    best = cosines.topk(min(NEIGHBOURS, known - 1))
    names = loaded.tokenizer.convert_ids_to_tokens(best.indices.tolist())
    return tuple(Neighbour(str(name), value) for name, value in zip(names, best.values.tolist(), strict=True))
