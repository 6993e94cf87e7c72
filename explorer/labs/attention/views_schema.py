"""What goes into the jobs behind bertviz's views and the neuron view, and what comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.labs.attention.schema import TokenPlace, check_texts
from explorer.numbers import MOST_LAYERS, whole_number

VIEWS = ("head", "model")
SCALE = 10_000
"""Weights travel as whole ten-thousandths."""

LONGEST_POSITION = 100_000


@dataclass(frozen=True)
class AttentionViewParams:
    """A text or a pair in one of bertviz's views.

    view: "head" (one layer) or "model" (every layer). layer: which one the head view shows, from 0. smallest: weights below
    it are left out, a share from 0 to 1; a long text leaves out more.
    """

    sentence_a: str
    sentence_b: str = ""
    view: str = "head"
    layer: int = 0
    smallest: float = 0.0

    def __post_init__(self) -> None:
        """Bring every field to its plain form, or raise BadInputError."""
        check_texts(self)
        if self.view not in VIEWS:
            raise BadInputError(f"view must be one of {', '.join(VIEWS)}.")
        object.__setattr__(self, "layer", whole_number(self.layer, "layer", 0, MOST_LAYERS))
        object.__setattr__(self, "smallest", _share(self.smallest))


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


@dataclass(frozen=True)
class QueryKeyParams:
    """One head, and the token that looks; layers, heads and positions count from 0. None: the first word."""

    sentence_a: str
    sentence_b: str = ""
    layer: int = 0
    head: int = 0
    position: int | None = None

    def __post_init__(self) -> None:
        """Bring every field to its plain form, or raise BadInputError."""
        check_texts(self)
        object.__setattr__(self, "layer", whole_number(self.layer, "layer", 0, MOST_LAYERS))
        object.__setattr__(self, "head", whole_number(self.head, "head", 0, MOST_LAYERS))
        if self.position is not None:
            object.__setattr__(self, "position", whole_number(self.position, "position", 0, LONGEST_POSITION))


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


def _share(value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1:
        raise BadInputError("smallest must be a share from 0 to 1, for example 0.02.")
    return number
