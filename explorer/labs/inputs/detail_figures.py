"""One token's parts in detail, and the position table, as figures, sentences and tables, from plain results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import DIVERGING, percent, picture, prose, strong
from explorer.labs.inputs.sum_figures import AXES, NAMES, scales
from explorer.labs.inputs.sum_schema import PositionsResult, TokenPart, TokenPartsResult
from explorer.tables import Table


def token_table(result: TokenPartsResult) -> Table:
    """part, norm, cosine, share."""
    return Table.of(
        ("part", "norm", "cosine", "share"), [(part.kind, part.norm, part.cosine, part.share) for part in result.parts]
    )


def token_sentence(result: TokenPartsResult) -> Markup:
    """Which part makes up most of the sum."""
    added = [part for part in result.parts if part.share is not None]
    parts = ["Of the squared norm of the sum for ", strong(result.token.shown), f" (position {result.token.position}) "]
    for place, part in enumerate(sorted(added, key=lambda part: -(part.share or 0.0))):
        parts += ["; " if place else "", f"{part.kind} makes ", strong(_signed(part.share or 0.0))]
    return prose(*parts, ". The shares add up to 100%; a negative one points against the sum.")


def _signed(share: float) -> str:
    return f"−{percent(-share)}" if share < 0 else percent(share) if share else "0%"


def token_figure(result: TokenPartsResult) -> dict[str, Any]:
    """One token: a long strip for each part; beside it norm, cosine with the sum, and share."""
    parts = result.parts
    values: dict[str, list[float]] = {}
    traces: list[dict[str, Any]] = []
    for number, part in enumerate(parts):
        count, axis = len(part.strip), AXES.get(part.kind, "coloraxis")
        values.setdefault(axis, []).extend(map(abs, part.strip))
        traces.append(
            {
                "type": "heatmap",
                "x": [(place + 0.5) / count for place in range(count)],
                "y": [number],
                "z": [[round(value, 5) for value in part.strip]],
                "customdata": [list(part.dimensions)],
                "coloraxis": axis,
                "ygap": 5,
                "hovertemplate": f"{part.kind}, dimension %{{customdata}}: %{{z:.4f}}<extra></extra>",
            }
        )
    return picture(
        traces,
        token_sentence(result).striptags(),
        height=54 + 46 * len(parts),
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        xaxis={"visible": False, "range": [0.0, 1.0]},
        yaxis={
            "autorange": "reversed",
            "tickmode": "array",
            "tickvals": list(range(len(parts))),
            "ticktext": [_described(part) for part in parts],
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
        },
        **scales(values),
    )


def _described(part: TokenPart) -> str:
    """A part's label: its name and norm, then how much of the sum it is."""
    name = f"{NAMES.get(part.kind, part.kind)}, norm {part.norm:.2f}"
    if part.share is None or part.cosine is None:
        return name
    return f"{name}<br>{_signed(part.share)} of the sum, cos {part.cosine:.2f}"


def neighbour_chips(result: TokenPartsResult) -> dict[str, Any]:
    """The nearest pieces of the vocabulary, with their cosines."""
    chips = [
        {
            "text": near.token,
            "joined": False,
            "style": "plain",
            "position": None,
            "pressed": False,
            "title": f"{near.token}: cosine {near.cosine:.4f}",
            "below": f"{near.cosine:.2f}",
        }
        for near in result.neighbours
    ]
    return {"chips": chips, "label": f"Nearest static embeddings to {result.token.text}, with the cosine below each"}


def positions_table(result: PositionsResult) -> Table:
    """first, second, cosine."""
    rows = [
        (first, second, result.cosines[row][column])
        for row, first in enumerate(result.positions)
        for column, second in enumerate(result.positions)
    ]
    return Table.of(("first", "second", "cosine"), rows)


def positions_sentence(result: PositionsResult) -> Markup:
    """How alike neighbours are, against positions far apart."""
    if not result.positions:
        return prose(
            f"{result.model} adds no position embeddings: its attention is told the distance of two tokens instead."
        )
    count = len(result.positions)
    near = [result.cosines[place][place + 1] for place in range(count - 1)]
    far = [
        result.cosines[row][column]
        for row in range(count)
        for column in range(count)
        if abs(row - column) >= count // 2
    ]
    step = result.positions[1] - result.positions[0] if count > 1 else 1
    distance = "next to each other" if step == 1 else f"{step} apart"
    says = [f"Two positions {distance} have a cosine of "]
    says += [strong(f"{sum(near) / len(near):.2f}" if near else "1.00"), " on average, two that are at least "]
    says += [f"{step * (count // 2)} apart ", strong(f"{sum(far) / len(far):.2f}")]
    learned = bool(near) and sum(near) / len(near) > sum(far) / len(far) + 0.1
    says.append(
        ": the band along the diagonal is what the model learned, from text alone, of what stands near what."
        if learned
        else ": by this measure neighbours are hardly more alike than positions far apart. What attention makes of them is "
        "another question."
    )
    return prose(*says)


def positions_figure(result: PositionsResult) -> dict[str, Any]:
    """Cosine of each position with each other; nothing for a model without a position table."""
    if not result.positions:
        return {}
    numbers = list(result.positions)
    trace = {
        "type": "heatmap",
        "z": [[round(value, 4) for value in row] for row in result.cosines],
        "x": numbers,
        "y": numbers,
        "colorscale": DIVERGING,
        "zmin": -1,
        "zmax": 1,
        "hovertemplate": "positions %{y} and %{x}: cosine %{z:.3f}<extra></extra>",
        "colorbar": {"title": {"text": "cosine"}, "thickness": 14},
    }
    return picture(
        [trace],
        positions_sentence(result).striptags(),
        height=400,
        xaxis={"title": {"text": "position"}, "showgrid": False},
        yaxis={"title": {"text": "position"}, "autorange": "reversed", "showgrid": False},
    )
