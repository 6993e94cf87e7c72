"""DeBERTa's scores taken apart: content with content, content with position, position with content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import DIVERGING, MAGNITUDE, Look, Panel, Picture, heat, picture
from explorer.charts.words import caption, label, percent, prose, strong
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.labs.attention.head import Square, TokenPlace
from explorer.labs.attention.head_figures import MOST_ROWS, MOST_TICKS, token_axis
from explorer.params import HeadNumber, Layer, SecondText, Text, params
from explorer.plain import Asked, architecture_of, plain_script
from explorer.tables import Cell, Table

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
    """Say why a model whose scores have one term cannot answer."""
    return (
        f"{model} scores content with content alone: nothing in its attention looks a relative position up. "
        f"Choose a DeBERTa, such as {ABLE}."
    )


def require_terms(result: TermsResult) -> None:
    """Raise BadInputError for a model without terms of position; the page says it in a sentence."""
    if not result.terms:
        raise BadInputError(refused(result.model))


MOST_DRAWN = 40
"""Tokens in the figure, from the first on. The table has them all."""

NAMES_PIXELS = 100
"""Room below a panel for the tokens' names, which stand upright, and the next one's title."""

VIEWS = {"less": "Less each row's mean", "whole": "As they are added"}
TITLES = {
    "content-content": "content → content",
    "content-position": "content → position",
    "position-content": "position → content",
}


def terms_table(result: TermsResult) -> Table:
    """from, to (position and token each), content_content, content_position, position_content, score (their sum), weight."""
    names = [token.name for token in result.tokens] if result.terms else []
    squares = [*(term.scores for term in result.terms), result.scores, result.weights]
    rows: list[list[Cell]] = []
    for i, here in enumerate(names):
        values = [square.row(i) for square in squares]
        rows += [[here, there, *(float(row[j]) for row in values)] for j, there in enumerate(names)]
    columns = [term.name.replace("-", "_") for term in result.terms]
    return Table.of(("from", "to", *columns, "score", "weight"), rows)


def page_table(result: TermsResult) -> Table:
    """Return terms_table; of a long text the rows with the largest weights alone."""
    return terms_table(result).largest(-1, MOST_ROWS)


def terms_sentence(result: TermsResult) -> Markup:
    """Say which term makes most of the scores, or which model to take."""
    if not result.terms:
        offer = Markup('<button type="button" class="offer" data-model="{0}">{0}</button>').format(ABLE)
        return prose(refused(result.model)) + Markup("<p>Switch to: {}</p>").format(offer)
    most = max(result.terms, key=lambda term: term.share)
    place = strong(f"Layer {result.layer}, head {result.head}")
    share = strong(_signed(most.share))
    return prose(
        place, ": of what tells tokens apart in a row, ", strong(TITLES[most.name]), " makes most, ", share, "."
    )


def terms_notes(result: TermsResult) -> Markup:
    """Say how much of the scores each term makes, and that they are the model's own."""
    if not result.terms:
        return Markup("")
    shares = "; ".join(
        f"{TITLES[term.name]} makes {_signed(term.share)}"
        for term in sorted(result.terms, key=lambda term: -term.share)
    )
    parts = [f"Of what tells tokens apart in a row {shares}. "]
    if any(term.share < 0 for term in result.terms):
        parts.append("A share below 0 works against the sum. ")
    parts.append(
        f"The softmax of the sum differs from {result.model}'s own attention by at most {result.difference:.1e}."
        if result.difference < 1e-3  # beyond rounding: DeBERTa's second version may do so
        else f"This model changes the sum before the softmax, which then misses its attention by {percent(result.difference)}."
    )
    if len(result.tokens) > MOST_DRAWN:
        parts.append(f" Drawn: the first {MOST_DRAWN} of {len(result.tokens)} tokens.")
    return caption(*parts)


def _signed(share: float) -> str:
    return f"−{percent(-share)}" if share < 0 else percent(share) if share else "0%"


def terms_figure(result: TermsResult, view: str = "less") -> Picture:
    """Draw three terms in a row, their sum and the attention below; the terms and the sum share one scale."""
    if not result.terms:
        return {}
    drawn = [*((TITLES[term.name], term.scores) for term in result.terms), ("their sum", result.scores)]
    grids = [(title, _rows(square, view)) for title, square in drawn]
    # A scale needs two ends.
    bound = max((abs(value) for _, rows in grids for row in rows for value in row), default=0.0) or 1.0
    panels = [_panel(result, f"{title}, ±{bound:.2g}", rows, bound) for title, rows in grids]
    panels.append(_panel(result, "attention: softmax of the sum", _rows(result.weights, "whole"), None))
    each = min(400, max(230, 70 + 20 * min(len(result.tokens), MOST_DRAWN)))
    look: Look = {"height": 2 * each + NAMES_PIXELS, "phone": len(panels) * (each + NAMES_PIXELS)}
    return picture(terms_sentence(result), panels, columns=len(result.terms), gap=0.07, above=40, **look)


def _rows(square: Square, view: str) -> list[list[float]]:
    """Return the first tokens' scores; in the view "less" without each row's mean, which is over all tokens."""
    rows = [square.row(number) for number in range(square.size)]
    means = [sum(row) / len(row) if view == "less" else 0.0 for row in rows]
    return [[value - mean for value in row[:MOST_DRAWN]] for row, mean in zip(rows, means, strict=True)][:MOST_DRAWN]


def _panel(result: TermsResult, title: str, rows: Sequence[Sequence[float]], bound: float | None) -> Panel:
    """Draw one matrix. bound: both ends of a scale of scores; None for weights."""
    tokens = result.tokens[:MOST_DRAWN]
    names = [label(token.name) for token in tokens]
    every = max(1, -(-len(tokens) // MOST_TICKS))
    hover = "%{y} → %{x}: " + ("%{z:.2%}" if bound is None else "%{z:+.3f}")
    look: Look = {"gap": 1 if len(tokens) <= MOST_TICKS else 0, "hover": hover}
    scale, ends = (MAGNITUDE, (0.0, 1.0)) if bound is None else (DIVERGING, (-bound, bound))
    cells = heat(names, names, [[round(value, 4) for value in row] for row in rows], scale, ends, **look)
    across = token_axis(tokens[::every], tickangle=-90) | {"tickfont": {"size": 11}}
    down = token_axis(tokens[::every], down=True, outer=True) | {"tickfont": {"size": 11}}
    return Panel(cells, across, down, title=title, air=NAMES_PIXELS)


def _plain(asked: Asked) -> str:
    """Make the script for DeBERTa's first version with all three terms; "" for others."""
    result: TermsResult = asked.result
    family = architecture_of(asked)
    if family is None or family.model_type != "deberta" or len(result.terms) < 3:
        return ""
    return plain_script("disentangled_terms")(asked)


DISENTANGLED_TERMS = Action(
    Job("explorer.labs.attention.terms_jobs:disentangled_terms"), TermsParams, terms_table, require_terms, plain=_plain
)
