"""How one row of attention comes about, element by element, as a picture, a sentence and a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Panel, Picture, Trace, axis, bars, empty, heat, picture
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, in_quotes, label, percent, prose, strong
from explorer.labs.attention.head import TokenPlace
from explorer.labs.attention.head_figures import token_axis
from explorer.labs.attention.views import LookedAt, QueryKeyResult
from explorer.tables import Table

MOST_ROWS = 40
"""Tokens in the figure; of a longer text those with the largest weights. The table has them all."""

NAMED_PRODUCTS = 3
ROW_PIXELS, STRIP_PIXELS, TITLE_PIXELS = 25, 26, 30

PLAIN: Look = {"grid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
TOKENS: Look = {"down": True, "ticks": ""}


def query_key_table(result: QueryKeyResult) -> Table:
    """to (position), token, score (q·k scaled), weight."""
    return Table.each(result.keys, to="place.position", token="place.shown", score="score", weight="weight")


def query_key_sentence(result: QueryKeyResult) -> Markup:
    """Say where the token looks most."""
    top = _most_seen(result)
    return prose(
        strong(f"Layer {result.layer}, head {result.head}"),
        ": ",
        in_quotes(result.looking.shown),
        " looks most at ",
        _with_place(result, top),
        ", with ",
        strong(percent(top.weight)),
        ".",
    )


def query_key_notes(result: QueryKeyResult) -> Markup:
    """Say which elements decide where it looks most, and what else goes into the weights."""
    top = _most_seen(result)
    products = sorted(enumerate(_products(result, top)), key=lambda entry: -abs(entry[1]))[:NAMED_PRODUCTS]
    elements = ", ".join(f"{place} ({value:+.2f})" for place, value in products)
    score = (
        f"Its score there is {top.score:.2f}; the largest of its {len(result.query)} terms are elements {elements}. "
    )
    drawn = ""
    if len(result.keys) > MOST_ROWS:
        drawn = f" Drawn: the {MOST_ROWS} of {len(result.keys)} tokens with the largest weights."
    return caption(score, *_beside(result), drawn)


def _most_seen(result: QueryKeyResult) -> LookedAt:
    return max((seen for seen in result.keys if not seen.hidden), key=lambda seen: seen.weight)


def _with_place(result: QueryKeyResult, seen: LookedAt) -> Markup:
    return strong("itself") if seen.place.position == result.looking.position else in_quotes(seen.place.shown)


def _beside(result: QueryKeyResult) -> list[str]:
    """Say whether the scores alone make the weights."""
    hidden = sum(seen.hidden for seen in result.keys)
    parts = []
    if hidden:
        reason = "those outside the window of this layer" if result.window else "those that come later"
        parts.append(
            f"Hidden from it: {hidden} of {len(result.keys)} tokens, {reason}; their scores are grey, their weight is 0. "
        )
    if result.exact:
        parts.append(f"The softmax of {'the other' if hidden else 'all'} scores is the weights.")
    else:
        parts.append(
            "In this model scores of relative positions are added to q·k, which no product of these vectors gives: the "
            f"softmax of the scores shown misses the weights by up to {percent(result.difference)}."
        )
    return parts


def query_key_chips(result: QueryKeyResult) -> dict[str, Any]:
    """Return the tokens as chips to press, each with its weight below; the chip of the token that looks is filled."""
    row = []
    for seen in result.keys:
        token, looks = seen.place, seen.place.position == result.looking.position
        title = f"{token.text}, position {token.position}: " + ("it looks" if looks else "press to let it look")
        style = "mask" if looks else "special" if token.special else ""
        look: Look = {"joined": token.joined, "position": token.position, "below": _weight(seen)}
        row.append(chip(token.shown, title, style, **look))
    return chips("The token that looks, and below each token the weight that it gives", row)


def query_key_figure(result: QueryKeyResult) -> Picture:
    """Draw the query as a strip, keys and products with a row for each token, scores and weights as bars."""
    seen, product = _drawn(result), f"q × k × {result.scaling:.3g}"
    keys, products = [one.key for one in seen], [_products(result, one) for one in seen]
    vectors, bound = _largest([result.query, *keys]), _largest(products)
    tokens, grid = [one.place for one in seen], ROW_PIXELS * len(seen)
    strip, down = token_axis([result.looking], **TOKENS), token_axis(tokens, **TOKENS)
    strip["ticktext"] = [f"q of {name}" for name in strip["ticktext"]]
    across, title = axis(**PLAIN), f"{product}, ±{bound:.2g}"
    size: Look = {"height": grid, "air": TITLE_PIXELS}
    query = Panel(_heat([result.query], [result.looking], vectors, "q"), across, strip, width=3.4, height=STRIP_PIXELS)
    key = Panel(_heat(keys, tokens, vectors, "k"), None, down, f"keys k, ±{vectors:.2g}", **size)
    times = Panel(_heat(products, tokens, bound, product), across, {**down, "outer": True}, title, width=3.4, **size)
    score, weight = _bars(seen, "score", **size), _bars(seen, "weight", **size)
    # Beside the query's strip.
    above = [empty(panel.width, STRIP_PIXELS, alone=empty(0.1)) for panel in (times, score, weight)]
    columns = [[query, key], [above[0], times], [above[1], score], [above[2], weight]]
    stacked = [[query, key, [times, above[0], score, above[1], weight]]]  # numbers stand beside the bars
    look: Look = {"stacked": stacked, "gap": 0.05, "above": 8, "right": 42, "bargap": 0.25}
    height = STRIP_PIXELS + TITLE_PIXELS + grid + 30
    if len(seen) > 8:  # fewer fit a projector as they are
        look["low"] = 2 * height // 3
    return picture(query_key_sentence(result), columns, height=height, phone=height + TITLE_PIXELS + grid, **look)


def _drawn(result: QueryKeyResult) -> list[LookedAt]:
    """Return the keys that are drawn, in the text's order."""
    if len(result.keys) <= MOST_ROWS:
        return list(result.keys)
    strongest = sorted(result.keys, key=lambda seen: -seen.weight)[:MOST_ROWS]
    return sorted(strongest, key=lambda seen: seen.place.position)  # back from their weights to the text's order


def _products(result: QueryKeyResult, seen: LookedAt) -> list[float]:
    """Return q·k term by term, scaled: the terms add up to the score."""
    return [q * k * result.scaling for q, k in zip(result.query, seen.key, strict=True)]


def _largest(rows: Sequence[Sequence[float]]) -> float:
    return max(abs(value) for row in rows for value in row) or 1.0  # a scale needs two ends


def _short(number: float) -> float:
    """Round to four significant digits, which is more than a colour or a hovering label shows."""
    return float(f"{number:.4g}")


def _heat(values: Sequence[Sequence[float]], tokens: Sequence[TokenPlace], bound: float, what: str) -> list[Trace]:
    names, cells = [label(token.name) for token in tokens], [map(_short, row) for row in values]
    hover = f"%{{y}}, element %{{x}}: {what} = %{{z}}"
    return heat(range(len(values[0])), names, cells, DIVERGING, (-bound, bound), gap=0, ygap=1, hover=hover)


def _bars(seen: Sequence[LookedAt], what: str, **size: Any) -> Panel:
    """Draw scores or weights as bars, on the axis of the tokens before."""
    scores, values = what == "score", [getattr(one, what) for one in seen]
    texts = [f"{one.score:.1f}" if scores else _weight(one) for one in seen]
    signs = ["@first" if value >= 0 else "@second" for value in values]
    colours = ["@muted" if one.hidden else sign for one, sign in zip(seen, signs, strict=True)]
    names, hover = [label(one.place.name) for one in seen], f"%{{y}}: {what} %{{x}}"
    drawn = bars(names, map(_short, values), colours, texts=texts, size=14, hover=hover)
    # 0 is always in view, since bars begin there.
    low, high, reach = min(0.0, *values), max(0.0, *values), max(values) - min(values) or 1.0
    start = low - 0.35 * reach * (low < 0)  # room for a text left of its bar
    stop = high + 0.1 * reach if scores else high * 1.05
    return Panel([drawn], axis(span=(start, stop), **PLAIN), None, what, **size)


def _weight(seen: LookedAt) -> str:
    return "not seen" if seen.hidden else f"{100 * seen.weight:.0f}%"
