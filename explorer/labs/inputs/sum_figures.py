"""The sum of the embeddings as colour strips, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, label, picture, prose, strong
from explorer.labs.inputs.sum_schema import (
    ADDED,
    SumPart,
    SumResult,
    SumToken,
)
from explorer.tables import Table

MOST_ROWS = 24
NAMES = {"layer_norm": "LayerNorm", "projection": "projection"}
"""What follows the sum, as it is called."""

AXES = {"layer_norm": "coloraxis2", "projection": "coloraxis3"}
"""The colour scale of each; the parts and their sum share the first."""
ABSENT = {
    "segment": "This model has no segment embeddings: nothing tells it which sentence a token is of, but the separators.",
    "position": "This model adds no positions here: its attention is told the distance of two tokens instead.",
    "layer_norm": "No LayerNorm follows here: every layer begins with one of its own.",
}


def sum_table(result: SumResult) -> Table:
    """position, token, part, norm."""
    rows = [
        (token.position, token.text, part.kind, part.norms[place])
        for place, token in enumerate(result.tokens)
        for part in result.parts
    ]
    return Table.of(("position", "token", "part", "norm"), rows)


def sum_sentence(result: SumResult) -> Markup:
    """That the parts make the model's own output, and which of them weighs most."""
    added = [part for part in result.parts if part.kind in ADDED]
    means = ", ".join(f"{part.kind} {sum(part.norms) / len(part.norms):.2f}" for part in added)
    follow = [NAMES[part.kind] for part in result.parts if part.kind in NAMES]
    way = " + ".join(part.kind for part in added) + "".join(f" → {name}" for name in follow)
    return prose(
        f"{way}: added up here, this differs from what {result.model} itself gives to its first layer by at most ",
        strong(f"{result.difference:.1e}".replace("e-0", "e-")),
        f". Mean norms: {means}.",
    )


def sum_notes(result: SumResult) -> Markup:
    """What this model does in its own way, and what the colours and the strips show."""
    kinds = {part.kind for part in result.parts}
    notes = [says for kind, says in ABSENT.items() if kind not in kinds]
    segments = {token.segment for token in result.tokens}
    if segments == {0} and any(token.special for token in result.tokens):
        notes.append("Every token takes row 0 of the segment table, so the same vector is added to all.")
    first = result.tokens[0].place
    if first:
        notes.append(
            f"Positions are counted from row {first} of the table, the one after the padding token's: an inheritance from "
            "fairseq, RoBERTa's library."
        )
    projection = next((part for part in result.parts if part.kind == "projection"), None)
    if projection is not None:
        narrow = result.parts[0].width
        notes.append(f"The tables are {narrow} wide (E), and a linear map takes the result to {projection.width} (H).")
    scales = {axis: limit(values) for axis, values in _by_scale(result.parts).items()}
    shown = {part.width: _taken(part) for part in result.parts}
    full = [f"±{scales['coloraxis']:.2g} for the parts and their sum"]
    full += [f"±{scales[AXES[part.kind]]:.2g} after {NAMES[part.kind]}" for part in result.parts if part.kind in NAMES]
    notes.append(
        f"A strip shows {' and '.join(shown.values())} dimensions: vermilion below zero, white at zero, blue above, full colour "
        f"at {', '.join(full)}. Beside each strip: the norm of the whole vector. Press a strip to see its token in detail."
    )
    return Markup("").join(Markup('<p class="caption">{}</p>').format(note) for note in notes)


def _taken(part: SumPart) -> str:
    """Which of its dimensions a strip shows."""
    every = part.dimensions[1] - part.dimensions[0] if len(part.dimensions) > 1 else 1
    return f"all {part.width}" if every == 1 else f"one in {every} of the {part.width}"


def _by_scale(parts: Sequence[SumPart]) -> dict[str, list[float]]:
    """Absolute values by the colour scale that draws them."""
    values: dict[str, list[float]] = {}
    for part in parts:
        here = values.setdefault(AXES.get(part.kind, "coloraxis"), [])
        here += [abs(value) for row in part.strips for value in row]
    return values


def limit(values: list[float]) -> float:
    """Where colours are full: the 98th percentile, so that a few large dimensions do not make the rest white."""
    return sorted(values)[int(0.98 * (len(values) - 1))] if values and max(values) > 0 else 1.0


def token_name(token: SumToken) -> str:
    """A token with its position, as a row's label."""
    return f"{label(token.shown, 14)} {token.position}"


def sum_figure(result: SumResult, first: int = 0) -> dict[str, Any]:
    """A panel for each part, a row for each token (24 at most, from `first`): read as an equation from left to right."""
    first = max(0, min(int(first), len(result.tokens) - MOST_ROWS))
    tokens = result.tokens[first : first + MOST_ROWS]
    rows = [token.position for token in tokens]
    axes: dict[str, Any] = {}
    narrow: dict[str, Any] = {}
    traces: list[dict[str, Any]] = []
    titles = []
    count = len(result.parts)
    for number, part in enumerate(result.parts):
        axis = "" if number == 0 else str(number + 1)
        start, stop = number / count, (number + 0.96) / count
        traces += _panel(part, rows, first, axis)
        domain = {"domain": [start, stop], "showgrid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
        axes[f"xaxis{axis}"] = {**domain, "range": [-0.5, 1.62 * part.width]}
        narrow[f"xaxis{axis}"] = {**domain, "range": [-0.5, part.width]}
        titles.append(_title(result.parts, number, start, axis))
    shared: dict[str, Any] = {
        "height": 70 + 26 * len(tokens),
        "margin": {"l": 8, "r": 4, "t": 44, "b": 8},
        "annotations": titles,
        "yaxis": {
            "range": [rows[-1] + 0.5, rows[0] - 0.5],
            "tickmode": "array",
            "tickvals": rows,
            "ticktext": [token_name(token) for token in tokens],
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "tickfont": {"size": 15},
        },
        **scales(_by_scale(result.parts)),
    }
    drawn = picture(traces, sum_sentence(result).striptags(), **shared, **axes)
    small = [{**title, "font": {"size": 11}, "textangle": -20, "x": title["x"]} for title in titles]
    drawn["narrow"] = picture([], "", **{**shared, "annotations": small}, **narrow)["layout"]
    return drawn


def scales(values: Mapping[str, list[float]]) -> dict[str, Any]:
    """A colour scale for each list of absolute values."""
    limits = {axis: limit(given) for axis, given in values.items()}
    return {
        axis: {"colorscale": DIVERGING, "cmin": -most, "cmax": most, "showscale": False}
        for axis, most in limits.items()
    }


def _panel(part: SumPart, rows: list[int], first: int, axis: str) -> list[dict[str, Any]]:
    """The strips of one part, and the norms beside them."""
    place = {"xaxis": f"x{axis}", "yaxis": "y"}
    chosen = slice(first, first + len(rows))
    return [
        {
            "type": "heatmap",
            **place,
            "x": list(part.dimensions),
            "y": rows,
            "z": [[round(value, 5) for value in strip] for strip in part.strips[chosen]],
            "coloraxis": AXES.get(part.kind, "coloraxis"),
            "ygap": 3,
            "hovertemplate": f"{part.kind}, position %{{y}}, dimension %{{x}}: %{{z:.4f}}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "text",
            **place,
            "x": [1.02 * part.width] * len(rows),
            "textposition": "middle right",
            "y": rows,
            "text": [f"{norm:.2f}" if norm < 100 else f"{norm:.0f}" for norm in part.norms[chosen]],
            "textfont": {"size": 14, "color": "@text"},
            "hoverinfo": "skip",
        },
    ]


def _title(parts: Sequence[SumPart], number: int, start: float, axis: str) -> dict[str, Any]:
    """What stands over a panel, with the sign that joins it to the one before."""
    kind = parts[number].kind
    sign = "" if number == 0 else "+ " if kind in ADDED else "= " if kind == "sum" else "→ "
    text = sign + ("E to H" if kind == "projection" else NAMES.get(kind, kind))
    note = {"text": text, "showarrow": False, "xref": "paper", "yref": "paper", "x": start, "y": 1.0}
    return {**note, "xanchor": "left", "yanchor": "bottom", "font": {"size": 16 if len(parts) < 6 else 14}}


def token_choices(result: SumResult) -> list[tuple[str, int]]:
    """The tokens for a list to choose from."""
    return [(f"{token.position}: {token.shown[:40]}", token.position) for token in result.tokens]
