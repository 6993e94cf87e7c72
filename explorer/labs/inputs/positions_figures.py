"""One token's parts in detail, and the position table, as figures, sentences and tables, from plain results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.charts import DIVERGING, Look, Picture, Trace, axis, chart, colorbar, heat, rows
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, in_quotes, percent, prose, strong
from explorer.labs.inputs.embeddings import PositionsResult, TokenPart, TokenPartsResult
from explorer.labs.inputs.embeddings_figures import AXES, NAMES, scales
from explorer.tables import Table


def token_table(result: TokenPartsResult) -> Table:
    """part, norm, cosine, share."""
    return Table.each(result.parts, part="kind", norm="norm", cosine="cosine", share="share")


def token_sentence(result: TokenPartsResult) -> Markup:
    """Say which part makes up most of the sum."""
    most = _most_first(result)[0]
    share = strong(_signed(most.share or 0.0))
    return prose(
        "Of the squared norm of the sum for ", in_quotes(result.token.shown), f" {most.kind} makes most, ", share, "."
    )


def token_notes(result: TokenPartsResult) -> Markup:
    """Say what each part makes up."""
    shares = "; ".join(f"{part.kind} makes {_signed(part.share or 0.0)}" for part in _most_first(result))
    adds = "The shares add up to 100%; a negative one points against the sum."
    return caption(f"Position {result.token.position}: {shares}. {adds}")


def _most_first(result: TokenPartsResult) -> list[TokenPart]:
    """Return the parts that are added, by how much of the sum they make."""
    return sorted((part for part in result.parts if part.share is not None), key=lambda part: -(part.share or 0.0))


def _signed(share: float) -> str:
    return f"−{percent(-share)}" if share < 0 else percent(share) if share else "0%"


def token_figure(result: TokenPartsResult) -> Picture:
    """Draw one token: a long strip for each part; beside it norm, cosine with the sum, and share."""
    values: dict[str, list[float]] = {}
    strips: list[Trace] = []
    for number, part in enumerate(result.parts):
        count, scale = len(part.strip), AXES.get(part.kind, "coloraxis")
        values.setdefault(scale, []).extend(map(abs, part.strip))
        look: Look = {"shared": True, "coloraxis": scale, "gap": 0, "ygap": 5, "customdata": [list(part.dimensions)]}
        look |= {"hover": f"{part.kind}, dimension %{{customdata}}: %{{z:.4f}}"}
        # Parts of different widths have one length.
        places, strip = [(place + 0.5) / count for place in range(count)], [round(value, 5) for value in part.strip]
        strips += heat(places, [number], [strip], **look)
    across, down = axis(span=(0, 1), visible=False), rows([*map(_described, result.parts)], zeroline=False, ticks="")
    height = 54 + 46 * len(result.parts)
    return chart(token_sentence(result), strips, across, down, height=height, above=12, **scales(values))


def _described(part: TokenPart) -> str:
    """Write a part's label: its name and norm, then how much of the sum it is."""
    name = f"{NAMES.get(part.kind, part.kind)}, norm {part.norm:.2f}"
    if part.share is None or part.cosine is None:
        return name
    return f"{name}<br>{_signed(part.share)} of the sum, cos {part.cosine:.2f}"


def neighbour_chips(result: TokenPartsResult) -> dict[str, Any]:
    """Return the nearest pieces of the vocabulary as chips, with their cosines."""
    row = [
        chip(near.token, f"{near.token}: cosine {near.cosine:.4f}", below=f"{near.cosine:.2f}")
        for near in result.neighbours
    ]
    return chips(f"Nearest static embeddings to {result.token.text}, with the cosine below each", row)


def positions_table(result: PositionsResult) -> Table:
    """first, second, cosine."""
    rows = [
        (first, second, cosine)
        for first, cosines in zip(result.positions, result.cosines, strict=True)
        for second, cosine in zip(result.positions, cosines, strict=True)
    ]
    return Table.of(("first", "second", "cosine"), rows)


def positions_sentence(result: PositionsResult) -> Markup:
    """Say how alike neighbours are, against positions far apart."""
    if not result.positions:
        instead = "its attention is told the distance of two tokens instead."
        return prose(f"{result.model} adds no position embeddings: {instead}")
    count, table = len(result.positions), result.cosines
    near = [table[place][place + 1] for place in range(count - 1)]
    far = [table[i][j] for i in range(count) for j in range(count) if abs(i - j) >= count // 2]
    step = result.positions[1] - result.positions[0] if count > 1 else 1
    distance = "next to each other" if step == 1 else f"{step} apart"
    says = [f"Two positions {distance} have a cosine of "]
    says += [strong(f"{sum(near) / len(near):.2f}" if near else "1.00"), " on average, two far apart "]
    says += [strong(f"{sum(far) / len(far):.2f}")]
    learned = bool(near) and sum(near) / len(near) > sum(far) / len(far) + 0.1  # 0.1: a smaller difference says nothing
    says.append(
        ": the model learned from text alone which positions are neighbours."
        if learned
        else ": by this measure neighbours are hardly more alike."
    )
    return prose(*says)


def positions_notes(result: PositionsResult) -> Markup:
    """Say what is called far apart, where to see it, and what it leaves open."""
    if not result.positions:
        return Markup("")
    count = len(result.positions)
    step = result.positions[1] - result.positions[0] if count > 1 else 1
    far = f"Far apart: by at least {step * (count // 2)}. "
    return caption(far, "Neighbours stand along the diagonal. What attention makes of them is another question.")


def positions_figure(result: PositionsResult) -> Picture:
    """Draw the cosine of each position with each other; nothing for a model without a position table."""
    if not result.positions:
        return {}
    cosines = [[round(value, 4) for value in row] for row in result.cosines]
    look: Look = {"gap": 0, "bar": colorbar("cosine"), "hover": "positions %{y} and %{x}: cosine %{z:.3f}"}
    cells = heat(result.positions, result.positions, cosines, DIVERGING, (-1, 1), **look)
    across, down = axis("position", grid=False), axis("position", grid=False, down=True)
    return chart(positions_sentence(result), cells, across, down, height=400)
