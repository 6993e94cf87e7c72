"""The sum of the embeddings as colour strips, sentences and tables, from plain results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import DIVERGING, Axis, Look, Panel, Picture, Trace, axis, heat, picture, texts
from explorer.charts.words import caption, label, prose, strong
from explorer.labs.inputs.embeddings import ADDED, SumPart, SumResult, SumToken
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
    """Say that the parts make the model's own output."""
    added = [part for part in result.parts if part.kind in ADDED]
    follow = [NAMES[part.kind] for part in result.parts if part.kind in NAMES]
    way = " + ".join(part.kind for part in added) + "".join(f" → {name}" for name in follow)
    return prose(
        f"{way}: added up here, this differs from what {result.model} itself gives to its first layer by at most ",
        strong(f"{result.difference:.1e}".replace("e-0", "e-")),
        ".",
    )


def sum_notes(result: SumResult) -> Markup:
    """Say which part weighs most, what this model does in its own way, and what the colours and the strips show."""
    kinds = {part.kind for part in result.parts}
    added = [part for part in result.parts if part.kind in ADDED]
    notes = [f"Mean norms: {', '.join(f'{part.kind} {sum(part.norms) / len(part.norms):.2f}' for part in added)}."]
    notes += [says for kind, says in ABSENT.items() if kind not in kinds]
    segments = {token.segment for token in result.tokens}
    if segments == {0} and any(token.special for token in result.tokens):
        notes.append("Every token takes row 0 of the segment table, so the same vector is added to all.")
    if first := result.tokens[0].place:
        counted = f"Positions are counted from row {first} of the table, the one after the padding token's: "
        notes.append(f"{counted}an inheritance from fairseq, RoBERTa's library.")
    projection = next((part for part in result.parts if part.kind == "projection"), None)
    if projection is not None:
        narrow = result.parts[0].width
        notes.append(f"The tables are {narrow} wide (E), and a linear map takes the result to {projection.width} (H).")
    limits = {name: limit(values) for name, values in _by_scale(result.parts).items()}
    shown = {part.width: _taken(part) for part in result.parts}
    full = [f"±{limits['coloraxis']:.2g} for the parts and their sum"]
    full += [f"±{limits[AXES[part.kind]]:.2g} after {NAMES[part.kind]}" for part in result.parts if part.kind in NAMES]
    notes.append(
        f"A strip shows {' and '.join(shown.values())} dimensions: vermilion below zero, the paper at zero, blue above, "
        f"full colour at {', '.join(full)}. Beside each strip: the norm of the whole vector. "
        "Press a strip to see its token in detail."
    )
    return prose(*map(caption, notes))


def _taken(part: SumPart) -> str:
    """Say which of its dimensions a strip shows."""
    every = part.dimensions[1] - part.dimensions[0] if len(part.dimensions) > 1 else 1
    return f"all {part.width}" if every == 1 else f"one in {every} of the {part.width}"


def _by_scale(parts: Sequence[SumPart]) -> dict[str, list[float]]:
    """Return absolute values by the colour scale that draws them."""
    values: dict[str, list[float]] = {}
    for part in parts:
        here = values.setdefault(AXES.get(part.kind, "coloraxis"), [])
        here += [abs(value) for row in part.strips for value in row]
    return values


def limit(values: list[float]) -> float:
    """Return the value at which colours are full: the 98th percentile, so that a few large ones don't make the rest
    pale.
    """
    return sorted(values)[int(0.98 * (len(values) - 1))] if values and max(values) > 0 else 1.0


def token_name(token: SumToken) -> str:
    """Name a token with its position, as a row's label."""
    return f"{label(token.shown, 14)} {token.position}"


def sum_figure(result: SumResult, first: int = 0) -> Picture:
    """Draw a panel for each part, a row for each token (24 at most, from `first`): an equation from left to right."""
    first = max(0, min(int(first), len(result.tokens) - MOST_ROWS))  # the slider may stand beyond a shorter text
    tokens = result.tokens[first : first + MOST_ROWS]
    rows, names = [token.position for token in tokens], [token_name(token) for token in tokens]
    bare: Look = {"grid": False, "zeroline": False, "ticks": ""}
    ticks: Look = {"tickmode": "array", "tickvals": rows, "ticktext": names, **bare}
    down: Axis | None = axis(span=(rows[-1] + 0.5, rows[0] - 0.5), size=15, **ticks)
    panels: list[Panel] = []
    for part in result.parts:
        title, strips = _title(part.kind, not panels), _strips(part, rows, first)
        # 1.62: room for the norms beside the strips.
        wide, narrow = (axis(span=(-0.5, end), showticklabels=False, **bare) for end in (1.62 * part.width, part.width))
        panels.append(Panel(strips, wide, down, title, alone=Panel((), narrow, down, title)))
        down = None  # the others share it
    height, gap, shared = 70 + 26 * len(tokens), 0.04 / len(panels), scales(_by_scale(result.parts))
    look: Look = {"height": height, "phone": height, "gap": gap, "above": 44, "right": 8, **shared}
    drawn = picture(sum_sentence(result), panels, stacked=panels, **look)  # a phone has the panels below each other
    for heading in drawn["layout"]["annotations"]:
        heading["font"] = {"size": 16 if len(panels) < 6 else 14}
    for heading in drawn["narrow"]["annotations"]:
        heading |= {"font": {"size": 11}, "textangle": -20}
    return drawn


def scales(values: Mapping[str, list[float]]) -> dict[str, Any]:
    """Return a colour scale for each list of absolute values."""
    return {
        name: {"colorscale": DIVERGING, "cmin": -limit(given), "cmax": limit(given), "showscale": False}
        for name, given in values.items()
    }


def _strips(part: SumPart, rows: list[int], first: int) -> list[Trace]:
    """Draw the strips of one part, and the norms beside them."""
    chosen = slice(first, first + len(rows))
    # Five decimals: the label shows four.
    values = [[round(value, 5) for value in strip] for strip in part.strips[chosen]]
    look: Look = {"shared": True, "coloraxis": AXES.get(part.kind, "coloraxis"), "gap": 0, "ygap": 3}
    look |= {"hover": f"{part.kind}, position %{{y}}, dimension %{{x}}: %{{z:.4f}}"}
    norms = [f"{norm:.2f}" if norm < 100 else f"{norm:.0f}" for norm in part.norms[chosen]]
    beside: Look = {"textposition": "middle right", "textfont": {"size": 14, "color": "@text"}}
    return [*heat(part.dimensions, rows, values, **look), texts([1.02 * part.width] * len(rows), rows, norms, **beside)]


def _title(kind: str, first: bool) -> str:
    """Write what stands over a panel, with the sign that joins it to the one before."""
    sign = "" if first else "+ " if kind in ADDED else "= " if kind == "sum" else "→ "
    return sign + ("E to H" if kind == "projection" else NAMES.get(kind, kind))


def token_choices(result: SumResult) -> list[tuple[str, int]]:
    """Return the tokens for a list to choose from."""
    return [(f"{token.position}: {token.shown[:40]}", token.position) for token in result.tokens]
