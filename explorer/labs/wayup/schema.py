"""Parameters and result of the whole way of a text through a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.charts.chips import TokenView
from explorer.kinds import MOST_LAYERS, MOST_TOKENS, Whole
from explorer.params import CharacterSpans, HiddenPlaces, Shown, Text, params

MOST_DRAWN = 64
"""Tokens that a picture has room for."""

GUESSES = 5
"""Tokens that the head names for each layer."""


@params
class PassParams:
    """A text, what of it is hidden, and what is looked at; layers and heads count from 0."""

    text: Annotated[Text, Shown("Sentence", "Press Enter to read it. Type [MASK] for a blank.", lines=(1, 3))]
    also_mask: HiddenPlaces = ()
    """What is hidden, by positions or words."""

    spans: CharacterSpans = ()
    """The same as (start, stop) characters, for another model's tokens."""

    position: Annotated[int, Whole(-1, MOST_TOKENS), Shown("Looked at")] = -1
    """The token whose way is followed. -1: the first that is hidden; where none is, the last word."""

    layer: Annotated[int, Whole(-1, MOST_LAYERS), Shown("Layer opened")] = -1
    """The layer that is taken apart; -1 for none."""

    head: Annotated[int, Whole(-1, MOST_LAYERS), Shown("Head")] = -1
    """The head whose attention is drawn in every layer; -1: in each the one that moves most from one word to the token."""


@dataclass(frozen=True)
class Guess:
    """One token that the head names."""

    token: str
    probability: float


@dataclass(frozen=True)
class Rung:
    """What the head reads off the followed token's state after so many layers; 0 is what the embeddings add up to.

    truth: the probability of what was hidden; None where that isn't known.
    """

    layer: int
    guesses: tuple[Guess, ...]
    truth: float | None


@dataclass(frozen=True)
class LayerSeen:
    """One layer as the picture shows it.

    head: the head that is drawn. weights: its attention, (length, length), row by row. brought: the length of what each
    token's value becomes, so that weight times brought is how much is moved. turned: 1 − cos between each token's state
    before and after the layer. top: the word from which most is moved to the followed token, and how much of all that
    the head moves there that is; None where only special tokens and the token itself are looked at.
    """

    number: int
    head: int
    weights: tuple[tuple[float, ...], ...]
    brought: tuple[float, ...]
    turned: tuple[float, ...]
    top: tuple[int, float] | None

    def moved(self, position: int) -> tuple[float, ...]:
        """Return how much is moved to a position from each token."""
        return tuple(weight * brought for weight, brought in zip(self.weights[position], self.brought, strict=True))


@dataclass(frozen=True)
class Opened:
    """One layer taken apart, for one head and the followed token (see LayerParts of explorer.models.whole_pass).

    query: (size,). keys, values: (length, size). scores: q·k scaled, and weights, (length, length). unseen: the pairs
    that the model may not look at. exact: whether softmax of the scores is the weights; DeBERTa adds scores of position.
    The rest are the token's vectors, by name. active: how many numbers behind the activation are above 0.
    """

    layer: int
    head: int
    query: tuple[float, ...]
    keys: tuple[tuple[float, ...], ...]
    values: tuple[tuple[float, ...], ...]
    scores: tuple[tuple[float, ...], ...]
    weights: tuple[tuple[float, ...], ...]
    unseen: tuple[tuple[bool, ...], ...]
    scaling: float
    exact: bool
    vectors: dict[str, tuple[float, ...]]
    active: int


@dataclass(frozen=True)
class Build:
    """How a model is made, in numbers and switches that its picture follows.

    shared: its layers are one, used several times. stages: what becomes of the sum of embeddings.
    """

    family: str
    depth: int
    heads: int
    width: int
    inner: int
    size: int
    vocabulary: int
    causal: bool
    norm_first: bool
    shared: bool
    disentangled: bool
    gated: bool
    norm: str
    activation: str


@dataclass(frozen=True)
class PassResult:
    """A text's way through a model. asked: mask, continue or replaced (explorer.models.questions).

    added: for each part of the embeddings' sum its kind and the length of its vector for each token. hidden: what stood
    at the followed place; "" where that isn't known. wished: whether the place was asked for. cut: a model that only
    continues was given what stands before the blank. chosen: whether the head was chosen, and not each layer's strongest.
    """

    model: str
    text: str
    mask_token: str
    asked: str
    tokens: tuple[TokenView, ...]
    position: int
    wished: bool
    hidden: str
    cut: bool
    chosen: bool
    added: tuple[tuple[str, tuple[float, ...]], ...]
    rungs: tuple[Rung, ...]
    layers: tuple[LayerSeen, ...]
    opened: Opened | None
    build: Build

    @property
    def settles(self) -> int:
        """The first layer from which on the final answer leads without a break."""
        answer = self.rungs[-1].guesses[0].token
        behind = [rung.layer for rung in self.rungs if rung.guesses[0].token != answer]
        return behind[-1] + 1 if behind else 0
