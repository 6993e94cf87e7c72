"""The logit lens as a table of tokens, as lines over the depth, and as a sentence, from plain results."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.figures import CIVIDIS, cell_texts, label, percent, picture, prose, strong
from explorer.labs.context.lens_schema import LensResult, Place, Standing
from explorer.tables import Table

TALL = 8
"""Layers up to which a cell has room for the probability as well."""

NARROW_RANKS = 3
"""Ranks that a phone has room for."""

CAUTION = (
    "The head has learned to read the last layer only. Earlier layers are read through the wrong eyes: a word that does not "
    "show in a layer may well be known there, in another basis."
)


def lens_table(result: LensResult) -> Table:
    """layer (0 is what the embeddings give), position, rank, token, probability."""
    rows = [
        (reading.layer, place.position, guess.rank, guess.token, guess.probability)
        for place in result.places
        for reading in place.layers
        for guess in reading.guesses
    ]
    return Table.of(("layer", "position", "rank", "token", "probability"), rows)


def lens_chips(result: LensResult, place: Place | None) -> dict[str, Any]:
    """The text as the model reads it; the other places that the lens looks at can be pressed."""
    answers = {entry.position: entry.answer for entry in result.places}
    several, chosen = len(result.places) > 1, place.position if place else None
    chips = [
        {
            "text": token.shown,
            "joined": token.joined,
            "style": "mask"
            if token.position == chosen
            else ("special" if token.special and not token.asked else "plain"),
            "position": token.position if token.asked and token.position != chosen else None,
            "pressed": token.position == chosen,
            "title": f"{token.text}, position {token.position}",
            "below": answers[token.position].strip() if token.asked and several and result.asked == "mask" else "",
        }
        for token in result.tokens
    ]
    return {"chips": chips, "label": "The text as the model reads it. Press a place to read it."}


def token_name(token: str, longest: int = 14) -> str:
    """A token in a cell or a legend: never empty, never markup, never long."""
    return label(token.strip() or repr(token), longest)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number:,}{ending}"


def lens_sentence(result: LensResult, place: Place) -> Markup:
    """When the answer appears and when it leads, and how far the followed word gets."""
    last = place.layers[-1]
    start = {
        "mask": f"At position {place.position} the model answers ",
        "continue": "After the last token the model expects ",
        "replaced": f"The token at position {place.position} is judged ",
    }[result.asked]
    parts: list[str] = [start, strong(_named(place.answer))]
    parts.append(f" ({percent(last.answer.probability)}). Read through the same head, ")
    parts += _appearance(result, place)
    if result.follow is not None and last.followed is not None:
        best = min(place.layers, key=lambda reading: _rank(reading.followed))
        parts += [" ", strong(_named(result.follow)), f" ends {ordinal(last.followed.rank)} of {result.classes:,}"]
        parts.append(f" ({percent(last.followed.probability)}) and stands highest in layer {best.layer}")
        parts.append(f" ({ordinal(_rank(best.followed))}).")
    return prose(*parts)


def _rank(standing: Standing | None) -> int:
    return standing.rank if standing is not None else 0


def _named(token: str) -> str:
    return token.strip() or repr(token)


def _appearance(result: LensResult, place: Place) -> list[str]:
    """From which layer on the final answer is among the first ranks, and from which it leads."""
    leads, among = place.leads_from(), place.first_among(result.top_k)
    if leads == 0:
        return ["it leads already in layer 0."]
    start = (
        f"it first comes among the top {result.top_k} in layer {among} and "
        if among < leads and 1 < result.top_k < result.classes
        else "it "
    )
    if leads == result.depth:
        return [start, "leads ", strong(f"only in the last layer, {leads}"), "."]
    return [start, "leads ", strong(f"from layer {leads} on"), f" (of {result.depth})."]


def lens_figure(result: LensResult, place: Place) -> dict[str, Any]:
    """A row for each layer and a column for each rank: the tokens, coloured by probability; the final answer is outlined."""
    depth, ranks = result.depth, len(place.layers[0].guesses)
    tall = depth <= TALL
    trace: dict[str, Any] = {
        "type": "heatmap",
        "z": [[guess.probability for guess in reading.guesses] for reading in place.layers],
        "x": list(range(1, ranks + 1)),
        "y": list(range(depth + 1)),
        "customdata": [[token_name(guess.token, 40) for guess in reading.guesses] for reading in place.layers],
        "hovertemplate": "layer %{y}, rank %{x}: %{customdata} %{z:.4%}<extra></extra>",
        "colorscale": CIVIDIS,
        "zmin": 0,
        "zmax": 1,
        "xgap": 3,
        "ygap": 2,
        "colorbar": {"tickformat": ".0%", "thickness": 12, "len": 0.95},
    }
    longest = max(6, min(13, 56 // ranks))
    texts = [
        [_cell(guess.token, guess.probability, tall, longest) for guess in reading.guesses] for reading in place.layers
    ]
    names = cell_texts(trace, texts, 14)
    changes: dict[str, Any] = {
        "height": 48 + (depth + 1) * (41 if tall else 28 if depth <= 12 else 22),
        "shapes": _outlines(result, place),
        "margin": {"l": 8, "r": 8, "t": 32, "b": 8},
        "yaxis": {
            "title": {"text": "layer"},
            "range": [depth + 0.5, -0.5],
            "dtick": 1,
            "showgrid": False,
            "zeroline": False,
        },
    }
    names_of = ["rank 1", *map(str, range(2, ranks + 1))]
    across = {"side": "top", "showgrid": False, "zeroline": False, "tickvals": trace["x"], "ticktext": names_of}
    wide = {**across, "range": [0.5, ranks + 0.5]}
    figure = picture([trace, names], lens_sentence(result, place).striptags(), xaxis=wide, **changes)
    figure["low"] = 40 + (depth + 1) * (39 if tall else 24 if depth <= 12 else 20)
    if ranks <= NARROW_RANKS:
        return figure
    narrow = {**across, "range": [0.5, NARROW_RANKS + 0.5]}
    return figure | {"narrow": picture([trace, names], "", xaxis=narrow, **changes)["layout"]}


def _cell(token: str, probability: float, tall: bool, longest: int) -> str:
    name = token_name(token, longest)
    return f"{name}<br>{percent(probability)}" if tall else name


def _outlines(result: LensResult, place: Place) -> list[dict[str, Any]]:
    """Frames around the final answer and, dotted, around the followed word."""
    standings = [(reading, reading.answer, "solid") for reading in place.layers]
    if result.follow != place.answer:
        standings += [(reading, reading.followed, "dot") for reading in place.layers if reading.followed is not None]
    return [
        {
            "type": "rect",
            "x0": standing.rank - 0.48,
            "x1": standing.rank + 0.48,
            "y0": reading.layer - 0.46,
            "y1": reading.layer + 0.46,
            "line": {"color": "@highlight", "width": 3, "dash": dash},
        }
        for reading, standing, dash in standings
        if standing.rank <= len(reading.guesses)
    ]


def depth_figure(result: LensResult, place: Place) -> dict[str, Any]:
    """Probability and rank of the final answer and of the followed word, and the divergence, over the layers."""
    lines = [(place.answer, "@first", "solid", [reading.answer for reading in place.layers])]
    if result.follow is not None and result.follow != place.answer:
        followed = [reading.followed for reading in place.layers if reading.followed is not None]
        lines.append((result.follow, "@second", "dash", followed))
    traces = []
    for token, colour, dash, standings in lines:
        name = token_name(token, 24)
        traces.append(_over_depth([s.probability for s in standings], name, colour, dash, "", "%{y:.4%}", legend=True))
        traces.append(_over_depth([float(s.rank) for s in standings], name, colour, dash, "2", "rank %{y:,}"))
    bits = [reading.divergence for reading in place.layers]
    traces.append(_over_depth(bits, "KL", "@third", "solid", "3", "%{y:.2f} bits"))
    described = depth_sentence(place)
    wide = picture(traces, described, **_panels(result, stacked=False))
    return wide | {"narrow": picture(traces, described, **_panels(result, stacked=True))["layout"]}


def depth_sentence(place: Place) -> str:
    """How far each layer's distribution is from the final one."""
    bits = [reading.divergence for reading in place.layers]
    half = next(reading.layer for reading in place.layers if reading.divergence <= bits[0] / 2)
    start = f"The distribution of layer 0 is {bits[0]:#.3g} bits (KL divergence) from the final one; "
    if half == len(bits) - 1:
        return f"{start}layer {half - 1} is {bits[half - 1]:#.3g} bits from it, more than half of that."
    return f"{start}in layer {half} less than half of that is left ({bits[half]:#.3g} bits)."


def _over_depth(
    values: list[float], name: str, colour: str, dash: str, axis: str, shown: str, legend: bool = False
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(range(len(values))),
        "y": values,
        "name": name,
        "showlegend": legend,
        "line": {"color": colour, "width": 3, "dash": dash},
        "marker": {"size": 7},
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "customdata": [name] * len(values),
        "hovertemplate": f"%{{customdata}}, layer %{{x}}: {shown}<extra></extra>",
    }


def _panels(result: LensResult, stacked: bool) -> dict[str, Any]:
    """Three panels beside each other, or below each other on a phone."""
    ranks = {"autorange": "reversed", "tickformat": ",d", "dtick": 1}  # of a logarithmic axis: every power of ten
    axes: tuple[tuple[str, dict[str, Any]], ...] = (
        ("probability", {"tickformat": ".0%", "range": [0, 1.04]}),
        ("rank", {"type": "log" if result.classes > 10 else "linear", **ranks}),
        ("KL from the final, bits", {"rangemode": "tozero"}),
    )
    changes: dict[str, Any] = {
        "height": 660 if stacked else 300,
        "showlegend": True,
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 15}},
        "margin": {"l": 8, "r": 16, "t": 8, "b": 8},
    }
    for number, (title, axis) in enumerate(axes):
        suffix = "" if number == 0 else str(number + 1)
        start, stop = number * 0.355, number * 0.355 + 0.27
        across, down = ([0, 1], [1 - stop, 1 - start]) if stacked else ([start, stop], [0, 1])
        changes[f"xaxis{suffix}"] = {
            "domain": across,
            "anchor": f"y{suffix}",
            "zeroline": False,
            "dtick": 1 if result.depth <= 8 else 2 if result.depth <= 14 else 4,
            **({} if stacked and number < 2 else {"title": {"text": "layer"}}),
        }
        changes[f"yaxis{suffix}"] = {"domain": down, "anchor": f"x{suffix}", "title": {"text": title}, **axis}
    return changes


def lens_notes(result: LensResult) -> Markup:
    """What is outlined, what was read, and the caution."""
    parts = ["Outlined: the final answer" + ("; dotted: the followed word. " if result.follow else ". ")]
    if result.cut:
        parts.append("A left-to-right model reads only what stands before the blank, so the text was cut there. ")
    if result.asked == "replaced":
        parts.append("This model judges every token, original or replaced; press one to read it. ")
    elif len(result.places) > 1:
        parts.append("Press another mask to read it. ")
    parts.append(f"{CAUTION} {result.refused}")
    return Markup('<p class="caption">{}</p>').format("".join(parts))
