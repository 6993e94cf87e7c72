"""bertviz's two views and the queries and keys behind one of their lines: what is asked, what is drawn, and how it is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.charts.words import caption, counted, percent, prose, strong
from explorer.kinds import Number, OneOf
from explorer.labs.attention.head import TokenPlace
from explorer.params import HeadNumber, Layer, MaybePosition, SecondText, Shown, Text, params
from explorer.tables import Table

VIEWS = ("head", "model")
SCALE = 10_000
"""Weights travel as whole ten-thousandths."""


@params
class AttentionViewParams:
    """A text or a pair in one of bertviz's views."""

    sentence_a: Text
    sentence_b: SecondText = ""
    view: Annotated[
        str, OneOf(VIEWS, ("Head view", "Model view"), said="{name} must be one of {known}."), Shown("bertviz")
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


HINTS = {
    "head": "Point at a token to see where it looks (left) or who looks at it (right). Click a colour square to switch a head "
    "off or on, double-click it for that head alone.",
    "model": "Each small picture is one head: what looks stands left, what is looked at right. Click one to enlarge it, click "
    "again to close it.",
}


def view_title(result: AttentionViewResult) -> str:
    """Return the document's title."""
    part = f"layer {result.layers[0]}, all heads" if result.view == "head" else "every layer and head"
    return f"Attention of {result.model}: {part}"


def view_note(result: AttentionViewResult) -> Markup:
    """Say which weights are drawn, and how much of all attention they are."""
    share = strong(percent(result.share))
    if result.kept_from <= 1:  # the least that is not rounded to 0
        parts = ["All weights are drawn."]
    else:
        parts = [
            f"Weights of {_threshold(result.kept_from)} and more are drawn, and each token's largest: ",
            share,
            " of all attention",
            ", as much as a browser draws smoothly." if result.limited else ".",
        ]
    if result.view == "model" and result.drawn_from > result.kept_from:
        parts.append(f" The small pictures show those of {_threshold(result.drawn_from)} and more.")
    if result.causal:
        parts.append(" This model reads from left to right: a token looks at itself and at what stands before it.")
    return prose(*parts)


def _threshold(number: int) -> str:
    return f"{100 * number / SCALE:.3g}%"


def view_sentence(result: AttentionViewResult) -> Markup:
    """Say how much of the attention in view the lines are."""
    one = result.view == "head"
    heads = counted(len(result.heads), "head")
    start = f"In layer {result.layers[0]} the lines show " if one else "The lines show "
    if not one and result.drawn_from > result.kept_from:
        start = "Enlarged, the pictures show "
    if result.kept_from <= 1:
        return prose(start, strong("every weight"), f" of {heads}.")
    return prose(start, strong(percent(result.share)), f" of the attention of {heads}.")


def view_notes(result: AttentionViewResult) -> Markup:
    """Say what is in view, which weights are drawn, and what a pair's filter is for."""
    parts: list[str] = [f"{_where(result)}, {counted(len(result.tokens), 'token')}. ", view_note(result)]
    if result.second_starts is not None:
        parts.append(" The list above the picture keeps attention within or between the two texts.")
    return caption(*parts)


def _where(result: AttentionViewResult) -> str:
    if result.view == "head":
        return f"Layer {result.layers[0]}, {counted(result.heads_of_layer, 'head')}"
    return f"{counted(len(result.layers), 'layer')} × {counted(result.heads_of_layer, 'head')}"


def view_table(result: AttentionViewResult) -> Table:
    """layer, head, lines_drawn (weights that the view carries), share_of_attention (theirs of the head's)."""
    return Table.each(result.heads, "layer head", lines_drawn="lines", share_of_attention="share")
