"""What goes into the job on the terms of a head's scores and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.labs.attention.head.schema import Square, TokenPlace
from explorer.params import HeadNumber, Layer, SecondText, Text, params

ABLE = "deberta-mini"
"""The bundled model that has them."""


@params
class TermsParams:
    """One head on a text or a pair; layers and heads count from 0."""

    sentence_a: Text
    sentence_b: SecondText = ""
    layer: Layer = 0
    head: HeadNumber = 0


@dataclass(frozen=True)
class Term:
    """One term of the scores. share: of what tells the tokens apart in a row of the sum; the shares add up to 1."""

    name: str
    scores: Square
    share: float


@dataclass(frozen=True)
class TermsResult:
    """The terms of a head's scores, their sum, and the attention that comes of it.

    terms: as the model divides and adds them; none in a model whose attention has content alone. difference: the most by
    which the softmax of the sum misses one of the model's own weights.
    """

    model: str
    layer: int
    head: int
    depth: int
    heads: int
    tokens: tuple[TokenPlace, ...]
    terms: tuple[Term, ...]
    scores: Square
    weights: Square
    difference: float


def refused(model: str) -> str:
    """What is said of a model whose scores have one term."""
    return (
        f"{model} scores content with content alone: nothing in its attention looks a relative position up. "
        f"Choose a DeBERTa, such as {ABLE}."
    )


def require_terms(result: TermsResult) -> None:
    """Raise BadInputError for a model without terms of position; the page says it in a sentence."""
    if not result.terms:
        raise BadInputError(refused(result.model))
