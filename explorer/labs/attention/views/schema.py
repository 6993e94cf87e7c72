"""Parameters and results of bertviz's views and of the neuron view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Number, OneOf
from explorer.labs.attention.head.schema import TokenPlace
from explorer.params import HeadNumber, Layer, MaybePosition, SecondText, Shown, Text, params

VIEWS = ("head", "model")
SCALE = 10_000
"""Weights travel as whole ten-thousandths."""


@params
class AttentionViewParams:
    """A text or a pair in one of bertviz's views."""

    sentence_a: Text
    sentence_b: SecondText = ""
    view: Annotated[
        str,
        OneOf(VIEWS, ("Head view", "Model view"), said="{name} must be one of {known}."),
        Shown("bertviz"),
    ] = "head"
    layer: Layer = 0
    """Which one the head view shows, from 0."""

    smallest: Annotated[
        float,
        Number(0, 1, said="{name} must be a share from 0 to 1, for example 0.02."),
        Shown("Smallest weight", "0: as many as a browser draws smoothly.", (0, 0.3, 0.005)),
    ] = 0.0
    """Weights below it are left out; a long text leaves out more."""


@dataclass(frozen=True)
class DrawnHead:
    """One head in a view: lines are the weights that it draws, share how much of the head's attention they are."""

    layer: int
    head: int
    lines: int
    share: float


@dataclass(frozen=True)
class AttentionViewResult:
    """The weights of a view, sparse: those from a threshold on, and the largest of each token.

    layers: the layers in view. depth: how many the model has. counts, targets, weights: little-endian 16-bit numbers, row by
    row of every head of every layer in view: how many weights a row keeps, the tokens that they go to, and the weights in
    ten-thousandths. kept_from: the threshold, in ten-thousandths. drawn_from: the same for what a small picture draws.
    """

    model: str
    view: str
    tokens: tuple[str, ...]
    second_starts: int | None
    depth: int
    layers: tuple[int, ...]
    heads: tuple[DrawnHead, ...]
    heads_of_layer: int
    kept_from: int
    drawn_from: int
    counts: bytes
    targets: bytes
    weights: bytes
    limited: bool
    """Whether weights were left out because there are too many to draw."""
    causal: bool

    @property
    def lines(self) -> int:
        """How many weights are kept."""
        return sum(head.lines for head in self.heads)

    @property
    def share(self) -> float:
        """How much of all attention they are."""
        return sum(head.share for head in self.heads) / len(self.heads)


@params
class QueryKeyParams:
    """One head, and the token that looks; layers, heads and positions count from 0."""

    sentence_a: Text
    sentence_b: SecondText = ""
    layer: Layer = 0
    head: HeadNumber = 0
    position: MaybePosition = None
    """None: the first word."""


@dataclass(frozen=True)
class LookedAt:
    """One token that is looked at: its key, score q·k scaled, the weight; hidden: the model may not see it from here."""

    place: TokenPlace
    key: tuple[float, ...]
    score: float
    weight: float
    hidden: bool


@dataclass(frozen=True)
class QueryKeyResult:
    """How one token's attention in one head comes about. sentences: as asked. query: as long as each key.

    scaling: what q·k is multiplied by. exact: whether the softmax of the scores of what may be seen is the weights;
    difference: the most by which it misses one of them. window: what is hidden lies outside a window around the token.
    """

    model: str
    sentences: tuple[str, str]
    layer: int
    head: int
    depth: int
    heads: int
    looking: TokenPlace
    query: tuple[float, ...]
    keys: tuple[LookedAt, ...]
    scaling: float
    exact: bool
    difference: float
    window: bool
