"""How one row of attention comes about, element by element, as a picture, a sentence and a table."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, label, percent, picture, prose, strong
from explorer.labs.attention.schema import TokenPlace
from explorer.labs.attention.views_schema import LookedAt, QueryKeyResult
from explorer.tables import Table

MOST_ROWS = 40
"""Tokens in the figure; of a longer text those with the largest weights. The table has them all."""

NAMED_PRODUCTS = 3
ROW_PIXELS, STRIP_PIXELS, TITLE_PIXELS = 25, 26, 30


def query_key_table(result: QueryKeyResult) -> Table:
    """to (position), token, score (q·k scaled), weight."""
    return Table.of(
        ("to", "token", "score", "weight"),
        [(seen.place.position, seen.place.shown, seen.score, seen.weight) for seen in result.keys],
    )


def query_key_sentence(result: QueryKeyResult) -> Markup:
    """Where the token looks most and which elements decide it; then what else goes into the weights."""
    top = max((seen for seen in result.keys if not seen.hidden), key=lambda seen: seen.weight)
    products = sorted(enumerate(_products(result, top)), key=lambda entry: -abs(entry[1]))[:NAMED_PRODUCTS]
    elements = ", ".join(f"{place} ({value:+.2f})" for place, value in products)
    parts: list[str] = [
        strong(f"Layer {result.layer}, head {result.head}"),
        ": ",
        strong(result.looking.shown),
        " looks most at ",
        strong(_with_place(result, top)),
        ", with ",
        strong(percent(top.weight)),
        f". Its score there is {top.score:.2f}; the largest of its {len(result.query)} terms are elements {elements}. ",
        *_beside(result),
    ]
    if len(result.keys) > MOST_ROWS:
        parts.append(f" Drawn: the {MOST_ROWS} of {len(result.keys)} tokens with the largest weights.")
    return prose(*parts)


def _with_place(result: QueryKeyResult, seen: LookedAt) -> str:
    return "itself" if seen.place.position == result.looking.position else seen.place.shown


def _beside(result: QueryKeyResult) -> list[str]:
    """Whether the scores alone make the weights."""
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
    """The tokens to press, with the weight that each gets below; the one that looks is filled."""
    chips = [
        {
            "text": seen.place.shown,
            "joined": seen.place.joined,
            "style": "mask" if _looks(result, seen) else "special" if seen.place.special else "",
            "position": seen.place.position,
            "pressed": False,
            "title": f"{seen.place.text}, position {seen.place.position}"
            + (": it looks" if _looks(result, seen) else ": press to let it look"),
            "below": "not seen" if seen.hidden else f"{100 * seen.weight:.0f}%",
        }
        for seen in result.keys
    ]
    return {"chips": chips, "label": "The token that looks, and below each token the weight that it gives"}


def _looks(result: QueryKeyResult, seen: LookedAt) -> bool:
    return seen.place.position == result.looking.position


def query_key_figure(result: QueryKeyResult) -> dict[str, Any]:
    """The query as a strip, keys and products with a row for each token, scores and weights as bars."""
    rows = _drawn(result)
    names = [label(seen.place.name) for seen in rows]
    products = [_products(result, seen) for seen in rows]  # scaled: a row adds up to its score
    vectors = max(map(abs, (*result.query, *(value for seen in rows for value in seen.key)))) or 1.0
    bound = max(abs(value) for row in products for value in row) or 1.0
    looking = label(result.looking.name)
    traces = [
        _heat([list(result.query)], [looking], vectors, "x", "y3", "q"),
        _heat([list(seen.key) for seen in rows], names, vectors, "x", "y", "k"),
        _heat(products, names, bound, "x2", "y2", f"q × k × {result.scaling:.3g}"),
        _bars(rows, names, "score"),
        _bars(rows, names, "weight"),
    ]
    titles = (f"keys k, ±{vectors:.2g}", f"q × k × {result.scaling:.3g}, ±{bound:.2g}", "score", "weight")
    described = query_key_sentence(result).striptags()
    wide = picture(traces, described, **_layout(result, rows, titles, stacked=False))
    if len(rows) > 8:  # fewer fit a projector as they are
        wide["low"] = 2 * wide["layout"]["height"] // 3
    wide["narrow"] = picture([], described, **_layout(result, rows, titles, stacked=True))["layout"]
    return wide


def _drawn(result: QueryKeyResult) -> list[LookedAt]:
    """In the text's order."""
    if len(result.keys) <= MOST_ROWS:
        return list(result.keys)
    strongest = sorted(result.keys, key=lambda seen: -seen.weight)[:MOST_ROWS]
    return sorted(strongest, key=lambda seen: seen.place.position)


def _products(result: QueryKeyResult, seen: LookedAt) -> list[float]:
    """Element by element, scaled: they add up to the score."""
    return [q * k * result.scaling for q, k in zip(result.query, seen.key, strict=True)]


def _short(number: float) -> float:
    """Four significant digits, which is more than a colour or a hovering label shows."""
    return float(f"{number:.4g}")


def _heat(
    values: list[list[float]], names: list[str], bound: float, across: str, down: str, what: str
) -> dict[str, Any]:
    return {
        "type": "heatmap",
        "z": [[_short(value) for value in row] for row in values],
        "y": names,
        "xaxis": across,
        "yaxis": down,
        "colorscale": DIVERGING,
        "zmin": -bound,
        "zmax": bound,
        "showscale": False,
        "ygap": 1,
        "hovertemplate": f"%{{y}}, element %{{x}}: {what} = %{{z}}<extra></extra>",
    }


def _bars(rows: list[LookedAt], names: list[str], what: str) -> dict[str, Any]:
    is_score = what == "score"
    values = [getattr(seen, what) for seen in rows]
    shown = list(zip(rows, values, strict=True))
    return {
        "type": "bar",
        "orientation": "h",
        "x": [_short(value) for value in values],
        "y": names,
        "xaxis": "x3" if is_score else "x4",
        "yaxis": "y2",
        "text": [_said(seen, is_score) for seen in rows],
        "textposition": "outside",
        "cliponaxis": False,
        "textfont": {"size": 14},
        "marker": {
            "color": ["@muted" if seen.hidden else "@first" if value >= 0 else "@second" for seen, value in shown]
        },
        "hovertemplate": "%{y}: " + what + " %{x}<extra></extra>",
    }


def _said(seen: LookedAt, is_score: bool) -> str:
    if is_score:
        return f"{seen.score:.1f}"
    return "not seen" if seen.hidden else f"{100 * seen.weight:.0f}%"


def _layout(result: QueryKeyResult, rows: list[LookedAt], titles: tuple[str, ...], stacked: bool) -> dict[str, Any]:
    """Side by side: keys, products, scores, weights. Stacked, for a narrow screen: keys above the rest."""
    grid = ROW_PIXELS * len(rows)
    height = STRIP_PIXELS + TITLE_PIXELS + (2 * grid + TITLE_PIXELS if stacked else grid) + 30
    inside = height - 16
    strip, keys = (1 - STRIP_PIXELS / inside, 1.0), grid / inside
    keys_top = strip[0] - TITLE_PIXELS / inside
    below = keys_top - keys - TITLE_PIXELS / inside
    products = (max(0.0, below - keys), below) if stacked else (keys_top - keys, keys_top)
    spans = ((0.0, 1.0), (0.0, 0.5), (0.6, 0.73), (0.86, 0.97)) if stacked else _SPANS
    tops = (keys_top, products[1], products[1], products[1])
    scores = [seen.score for seen in rows]
    reach = max(scores) - min(scores) or 1.0
    low, high = min(0.0, min(scores)), max(0.0, max(scores))
    plain: dict[str, Any] = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
    tokens = _tokens([seen.place for seen in rows])
    return {
        "height": height,
        "margin": {"l": 8, "r": 34, "t": 8, "b": 8},
        "bargap": 0.25,
        "xaxis": {**plain, "domain": spans[0]},
        "xaxis2": {**plain, "domain": spans[1], "anchor": "y2"},
        "xaxis3": {
            **plain,
            "domain": spans[2],
            "anchor": "y2",
            "range": [low - 0.35 * reach * (low < 0), high + 0.1 * reach],
        },
        "xaxis4": {**plain, "domain": spans[3], "anchor": "y2", "range": [0, max(seen.weight for seen in rows) * 1.05]},
        "yaxis": {**tokens, "domain": (max(0.0, keys_top - keys), keys_top)},
        "yaxis2": {**tokens, "domain": products, "anchor": "x2", "showticklabels": stacked},
        "yaxis3": {**_tokens([result.looking], "q of "), "domain": strip},
        "annotations": [
            *(
                _title(text, span[0], top + TITLE_PIXELS / inside)
                for text, span, top in zip(titles, spans, tops, strict=True)
            ),
        ],
    }


_SPANS = ((0.0, 0.34), (0.36, 0.70), (0.745, 0.84), (0.89, 0.985))


def _tokens(places: list[TokenPlace], before: str = "") -> dict[str, Any]:
    return {
        "type": "category",
        "autorange": "reversed",
        "tickvals": [label(place.name) for place in places],
        "ticktext": [before + label(place.shown, 12) for place in places],
        "tickfont": {"size": 14},
        "ticks": "",
        "showgrid": False,
    }


def _title(text: str, across: float, up: float) -> dict[str, Any]:
    return {
        "text": text,
        "x": across,
        "y": up,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "font": {"size": 14},
    }
