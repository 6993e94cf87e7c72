"""Parameters and results of the jobs that compare left, right and both contexts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Sentence
from explorer.params import Layer, MaybePosition, Shown, params

ENCODER, DECODER = "bert-small", "gpt2-mini"
READERS = (("left", DECODER), ("left", ENCODER), ("right", ENCODER), ("both", ENCODER))
"""Which side of the blank is read, and by which model."""

KINDS = ("right", "left", "both")
"""Which side tells the word of one of the fifty sentences."""

MOST_READ = 40
"""Tokens of a sentence, special tokens included; more could not be told apart in the triangles."""

OPENING_TEXT = "The keys to the cabinet are on the table."


@params
class DirectionsParams:
    """A sentence and the word of it that is hidden."""

    text: Annotated[
        str, Sentence(), Shown("Sentence", "Press Enter to read it, or press a word of it.", lines=(1, 4))
    ] = OPENING_TEXT
    position: MaybePosition = None
    """A token of bert-small's (0 is [CLS]); its whole word is hidden. The word after the middle where none is named."""


@params
class SightParams(DirectionsParams):
    """As DirectionsParams, and the layer whose attention is shown."""

    layer: Annotated[Layer, Shown(f"Layer ({DECODER} ends with 3)", slider=(0, 5))] = 0


@params
class FiftyParams:
    """The fifty sentences are always the same."""


@dataclass(frozen=True)
class Chip:
    """One token of the sentence as bert-small reads it. asked: it belongs to the word that is
    asked about. pressable: it belongs to a word."""

    position: int
    text: str
    shown: str
    joined: bool
    asked: bool
    pressable: bool


@dataclass(frozen=True)
class Guess:
    """One token that a reader puts first, second and so on."""

    token: str
    probability: float


@dataclass(frozen=True)
class Reading:
    """What one reader says at the blank. truth: the token that counts, the word's first piece in this vocabulary, with its
    rank and probability; entropy: of the whole distribution, in nats."""

    context: str
    model: str
    truth: str
    rank: int
    probability: float
    entropy: float
    vocabulary: int
    guesses: tuple[Guess, ...]


@dataclass(frozen=True)
class DirectionsResult:
    """One blank by the four readers, in the order of READERS.

    position: of the hidden word's first piece. pieces: how many it has.
    """

    text: str
    word: str
    position: int
    pieces: int
    chips: tuple[Chip, ...]
    readings: tuple[Reading, ...]


Weights = tuple[tuple[float | None, ...], ...]
"""A row for each position that looks, a column for each that it looks at; None where it may not look."""


@dataclass(frozen=True)
class Sight:
    """Who looks at whom in one layer. weights: mean over the heads; place: the position that answers; layer: the model's own."""

    context: str
    model: str
    layer: int
    tokens: tuple[str, ...]
    place: int
    weights: Weights


@dataclass(frozen=True)
class SightResult:
    """The four readers' attention, in the order of READERS."""

    text: str
    word: str
    position: int
    sights: tuple[Sight, ...]


@dataclass(frozen=True)
class Told:
    """One of the fifty sentences with what the four readers say; number: from 1."""

    number: int
    kind: str
    text: str
    word: str
    start: int
    readings: tuple[Reading, ...]

    @property
    def both_leads(self) -> bool:
        """Whether bert-small gives the true word more with both sides than with either alone."""
        _, left, right, both = (reading.probability for reading in self.readings)
        return both > max(left, right)


@dataclass(frozen=True)
class FiftyResult:
    """The sentences that are done, of `total`."""

    told: tuple[Told, ...]
    total: int

    @property
    def leading(self) -> int:
        """In how many sentences both sides beat the left and the right."""
        return sum(one.both_leads for one in self.told)


@dataclass(frozen=True)
class Paths:
    """How a word comes to the position before it, under one attention mask, layer by layer.

    flows: attention rollout up to each layer, a row a position. direct: the weight of the word in the attention of the
    position before it, mean over heads. reach: its share of that position's rollout. moved: by how much that position's state
    changes when the word is replaced by [MASK], as a share of the state's length. detour: of the rollout after two layers, what
    comes by way of a third position.
    """

    mask: str
    flows: tuple[tuple[tuple[float, ...], ...], ...]
    direct: tuple[float, ...]
    reach: tuple[float, ...]
    moved: tuple[float, ...]
    detour: float


@dataclass(frozen=True)
class AnswerResult:
    """One word as the answer of the position before it.

    paths: without a mask and with a causal one; seen, masked: bert-small's probability of the word at its own position,
    with the word in the input and with [MASK] there.
    """

    text: str
    word: str
    position: int
    chips: tuple[Chip, ...]
    paths: tuple[Paths, ...]
    seen: float
    masked: float


@params
class ProofParams:
    """The two bundled trainings of the next token; nothing to choose."""


@dataclass(frozen=True)
class LossCurve:
    """One training from nothing. mask: none or causal. points: (step, loss, accuracy) of the next token on held-out text."""

    mask: str
    points: tuple[tuple[int, float, float], ...]


@dataclass(frozen=True)
class ProofResult:
    """The losses without a mask, and with one."""

    curves: tuple[LossCurve, LossCurve]
