"""One word in several sentences: how alike its vectors are in each layer, against two random tokens of that layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from explorer.errors import BadInputError
from explorer.labs.context.examples import PLAIN
from explorer.labs.context.word import STATIC, ContextParams, ContextResult, LayerView, Line, Occurrence, Projection
from explorer.maths.states import cosines, pairwise, principal_plane
from explorer.models.batching import states_of_each
from explorer.models.encoding import Encoded, encode
from explorer.models.loaded_model import LoadedModel

PAIRS = 1000
"""Random pairs for the baseline: its mean is then known to about 0.005."""

CANDIDATES = 20
"""Draws for each pair that is wanted; those of one sentence or of one spelling are left out."""


@dataclass(frozen=True)
class _Read:
    """A sentence, its states (depth + 1, length, width), and the positions of the word's pieces and of all other tokens."""

    encoded: Encoded
    states: Tensor
    word: tuple[int, ...]

    @property
    def others(self) -> list[int]:
        return [t.position for t in self.encoded.tokens if t.word is not None and t.position not in self.word]

    def ids(self, places: Sequence[int]) -> list[int]:
        return [self.encoded.tokens[place].token_id for place in places]


def contextual_similarity(loaded: LoadedModel, params: ContextParams) -> ContextResult:
    """The cosine of the word's vectors in each two sentences, by layer, with the anisotropy baseline of that layer.

    A word of several pieces has the mean of their vectors. The baseline is the mean cosine of random tokens of different
    sentences and different spelling, the word itself left out (Ethayarajh 2019, sections 3.3 and 4.1).
    """
    lines = params.lines
    encoded = [_encoded(loaded, number, line) for number, line in enumerate(lines, start=1)]
    places = [_places(line, entry, params.word) for line, entry in zip(lines, encoded, strict=True)]
    plain = _plain(loaded)
    states = states_of_each(loaded, [entry.inputs for entry in (*encoded, *plain)])
    # The app's own sentences lack the word.
    sentences = [_Read(*parts) for parts in zip([*encoded, *plain], states, [*places, *[()] * len(plain)], strict=True)]
    given = sentences[: len(lines)]
    baselines = _baselines(loaded, sentences, params.seed)
    alone = torch.stack([_embeddings(loaded, entry.ids(entry.word)).mean(0) for entry in given])  # (sentences, width)
    # (depth + 1, sentences, width).
    layers = torch.stack([entry.states[:, entry.word].mean(1) for entry in given], dim=1)
    planes = [*projections(alone[None]), *projections(layers)]
    views = tuple(
        LayerView(number, _rows(cosines(vectors)), *_spread(found), plane)
        for number, (vectors, found, plane) in enumerate(
            zip([alone, *layers], baselines, planes, strict=True), start=STATIC
        )
    )
    return ContextResult(
        loaded.model_id,
        params.word,
        tuple(map(_occurrence, [loaded] * len(lines), range(1, len(lines) + 1), lines, given)),
        views,
        pairs=len(baselines[0]),
        pool=sum(len(entry.others) for entry in sentences),
        plain_sentences=len(plain),
        one_vector=len({tuple(entry.ids(entry.word)) for entry in given}) == 1,
        adds_positions=_adds_positions(sentences),
    )


def _encoded(loaded: LoadedModel, number: int, line: Line) -> Encoded:
    try:
        return encode(loaded, line.text)
    except BadInputError as error:  # named: there are up to eight
        raise BadInputError(f"Sentence {number}: {error}") from None


def _places(line: Line, encoded: Encoded, word: str) -> tuple[int, ...]:
    """Return the positions of the tokens that hold characters of the word."""
    found = tuple(t.position for t in encoded.tokens if t.start < line.stop and t.stop > line.start)
    if not found:
        raise BadInputError(f"This model's tokenizer leaves nothing of “{word}”. Choose another word.")
    return found


def _plain(loaded: LoadedModel) -> list[Encoded]:
    """Encode the app's own sentences, as far as the model can read that many tokens."""
    fitting = []
    for sentence in PLAIN:
        try:
            fitting.append(encode(loaded, sentence))
        except BadInputError:  # a model that reads a dozen tokens at a time
            continue
    return fitting


def _embeddings(loaded: LoadedModel, token_ids: Sequence[int]) -> Tensor:
    """Return what the vocabulary holds for these tokens, before position and segment are added: (n, width), on the CPU."""
    table = cast(nn.Embedding, loaded.model.get_input_embeddings())
    return table.weight[torch.tensor(token_ids, device=loaded.device)].float().cpu()


def _baselines(loaded: LoadedModel, sentences: Sequence[_Read], seed: int) -> list[Tensor]:
    """Return the cosines of the random pairs: of the token embeddings, then layer by layer; (pairs,) each."""
    ids = torch.tensor([token_id for entry in sentences for token_id in entry.ids(entry.others)])
    owners = torch.tensor([owner for owner, entry in enumerate(sentences) for _ in entry.others])
    first, second = random_pairs(owners, ids, seed)  # the same pairs in every layer
    alone = _embeddings(loaded, ids.tolist())
    found = [pairwise(alone[first], alone[second])]
    for layer in range(len(sentences[0].states)):
        vectors = torch.cat([entry.states[layer, entry.others] for entry in sentences])
        found.append(pairwise(vectors[first], vectors[second]))
    return found


def random_pairs(owners: Tensor, ids: Tensor, seed: int) -> Tensor:
    """Draw pairs of tokens of different sentences (`owners`) and different spelling (`ids`): (2, at most PAIRS)
    indices.

    owners, ids: (tokens,). If all tokens are spelled alike (each is unknown to the vocabulary), different sentences are
    enough.
    """
    if len(set(owners.tolist())) < 2:
        raise BadInputError("There are too few tokens beside the word to compare it with. Write longer sentences.")
    generator = torch.Generator().manual_seed(seed)
    # Many too many: those that do not fit are left out.
    drawn = torch.randint(len(owners), (2, PAIRS * CANDIDATES), generator=generator)
    apart = owners[drawn[0]] != owners[drawn[1]]
    spelled = ids[drawn[0]] != ids[drawn[1]]
    fitting = apart & spelled if (apart & spelled).any() else apart
    return drawn[:, fitting][:, :PAIRS]


def _adds_positions(sentences: Sequence[_Read]) -> bool:
    """Return whether some token that stands at two positions differs in layer 0; True if no token stands at two."""
    first: dict[int, tuple[int, Tensor]] = {}
    for entry in sentences:
        for token in entry.encoded.tokens:
            state = entry.states[0, token.position]
            position, seen = first.setdefault(token.token_id, (token.position, state))
            if position != token.position:
                return not torch.allclose(seen, state, atol=1e-5)  # beyond float32 rounding, which padding may change
    return True


def _spread(found: Tensor) -> tuple[float, tuple[float, float]]:
    """Return the mean, and the ends of the middle nine tenths."""
    low, high = found.quantile(torch.tensor([0.05, 0.95], dtype=found.dtype)).tolist()
    return float(found.mean()), (low, high)


def _rows(matrix: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))


def _occurrence(loaded: LoadedModel, number: int, line: Line, entry: _Read) -> Occurrence:
    tokens = [entry.encoded.tokens[place] for place in entry.word]
    unknown = any(token.token_id == loaded.tokenizer.unk_token_id for token in tokens)
    pieces = tuple(token.text for token in tokens)
    return Occurrence(number, line.text, line.sense, line.start, line.stop, pieces, unknown, line.times)


def projections(layers: Tensor) -> list[Projection]:
    """Return a plane for each layer, turned like the one below it. layers: (layers, n, width)."""
    planes: list[Projection] = []
    before: Tensor | None = None
    for vectors in layers:
        plane, explained = principal_plane(vectors, before)
        before = plane if explained[0] else before  # a layer of one point has no direction to follow
        planes.append(Projection(tuple((x, y) for x, y in plane.tolist()), explained))
    return planes
