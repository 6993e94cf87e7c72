"""The logit lens as a table of tokens, as lines over the depth, and as a sentence, from plain results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import MAGNITUDE, Look, Mark, Panel, Picture, Trace, axis, colorbar, frame, heat, line, picture
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, in_quotes, label, ordinal, percent, prose, strong
from explorer.labs.context.lens import LensResult, Place
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
    """Return the text as the model reads it; the other places that the lens looks at can be pressed."""
    answers = {entry.position: entry.answer.strip() for entry in result.places}
    answered, row = len(result.places) > 1 and result.asked == "mask", []
    for token in result.tokens:
        chosen = place is not None and token.position == place.position
        style = "mask" if chosen else "special" if token.special and not token.asked else "plain"
        position = token.position if token.asked and not chosen else None
        below = answers[token.position] if token.asked and answered else ""
        title, look = f"{token.text}, position {token.position}", {"joined": token.joined, "pressed": chosen}
        row.append(chip(token.shown, title, style, position=position, below=below, **look))
    return chips("The text as the model reads it. Press a place to read it.", row)


def token_name(token: str, longest: int = 14) -> str:
    """Name a token in a cell or a legend: never empty, never markup, never long."""
    return label(_named(token), longest)


def lens_sentence(result: LensResult, place: Place) -> Markup:
    """Say what the model answers, and from which layer on that leads."""
    start = {
        "mask": "For the blank the model answers "
        if len(result.places) == 1
        else f"At position {place.position} the model answers ",
        "continue": "After the last token the model expects ",
        "replaced": f"The token at position {place.position} is judged ",
    }[result.asked]
    leads = place.leads_from()
    since = "only in the last layer" if leads == result.depth else f"from layer {leads} on"
    return prose(
        start, in_quotes(place.answer), ", which leads ", strong("already in layer 0" if not leads else since), "."
    )


def _named(token: str) -> str:
    return token.strip() or repr(token)  # blanks alone are shown as Python writes them


def _standings(result: LensResult, place: Place) -> list[str]:
    """Say how sure the answer is, where it first comes among the first ranks, and how far the followed word gets."""
    share, among = percent(place.layers[-1].answer.probability), place.first_among(result.top_k)
    parts = [f"In the last layer, {result.depth}, ", in_quotes(place.answer, bold=False), f" has {share}"]
    if among < place.leads_from() and 1 < result.top_k < result.classes:  # among all classes it always is
        parts.append(f"; read through the same head, it first comes among the top {result.top_k} in layer {among}")
    followed = [(reading.followed, reading.layer) for reading in place.layers if reading.followed is not None]
    if result.follow is not None and followed:
        (last, _), (best, layer) = followed[-1], min(followed, key=lambda pair: pair[0].rank)
        parts += [". ", in_quotes(result.follow, bold=False), f" ends {ordinal(last.rank)} of {result.classes:,}"]
        parts.append(f" ({percent(last.probability)}) and stands highest in layer {layer} ({ordinal(best.rank)})")
    return [*parts, ". "]


def lens_figure(result: LensResult, place: Place) -> Picture:
    """Draw a row for each layer and a column for each rank: the tokens, coloured by probability; the final answer is
    outlined.
    """
    depth, ranks = result.depth, range(1, len(place.layers[0].guesses) + 1)
    tall, longest = depth <= TALL, max(6, min(13, 56 // len(ranks)))  # 56 letters fill a row on a projector
    guesses = [reading.guesses for reading in place.layers]
    shares = [[guess.probability for guess in row] for row in guesses]
    texts = [[token_name(g.token, longest) + f"<br>{percent(g.probability)}" * tall for g in row] for row in guesses]
    names = [[token_name(guess.token, 40) for guess in row] for row in guesses]
    hover = "layer %{y}, rank %{x}: %{customdata} %{z:.4%}"
    look: Look = {"texts": texts, "size": 14, "xgap": 3, "hover": hover, "customdata": names}
    key = colorbar(form=".0%", thickness=12, len=0.95)
    cells = heat(ranks, range(depth + 1), shares, MAGNITUDE, bar=key, **look)
    ticks = ["rank 1", *map(str, ranks[1:])]
    above: Look = {"top": True, "grid": False, "zeroline": False, "tickvals": list(ranks), "ticktext": ticks}
    wide, narrow = (axis(span=(0.5, last + 0.5), **above) for last in (len(ranks), NARROW_RANKS))
    down = axis("layer", grid=False, span=(depth + 0.5, -0.5), dtick=1, zeroline=False)  # layer 0 is on top
    marks = _outlines(result, place)
    height = 48 + (depth + 1) * (41 if tall else 28 if depth <= 12 else 22)
    low = 40 + (depth + 1) * (39 if tall else 24 if depth <= 12 else 20)
    panel = Panel(cells, wide, down, marks=marks, alone=Panel((), narrow, down, marks=marks))
    phone = height if len(ranks) > NARROW_RANKS else 0  # a phone scrolls if it has columns left
    return picture(lens_sentence(result, place), [panel], height=height, phone=phone, low=low)


def _outlines(result: LensResult, place: Place) -> list[Mark]:
    """Draw frames around the final answer and, dotted, around the followed word."""
    standings = [(reading, reading.answer, "solid") for reading in place.layers]
    if result.follow != place.answer:  # else one frame would hide the other
        standings += [(reading, reading.followed, "dot") for reading in place.layers if reading.followed is not None]
    return [
        frame((standing.rank - 0.48, standing.rank + 0.48), (reading.layer - 0.46, reading.layer + 0.46), dash=dash)
        for reading, standing, dash in standings
        if standing.rank <= len(reading.guesses)
    ]


def depth_figure(result: LensResult, place: Place) -> Picture:
    """Draw probability and rank of the final answer and of the followed word, and the divergence, over the layers."""
    lines = [(place.answer, "@first", "", [reading.answer for reading in place.layers])]
    if result.follow is not None and result.follow != place.answer:
        followed = [reading.followed for reading in place.layers if reading.followed is not None]
        lines.append((result.follow, "@second", "dash", followed))

    shares, ranks = [], []
    for token, colour, dash, standings in lines:
        name = token_name(token, 24)
        shares.append(_over_depth([s.probability for s in standings], name, "%{y:.4%}", colour, dash=dash))
        ranks.append(_over_depth([s.rank for s in standings], name, "rank %{y:,}", colour, dash=dash))
    bits = [reading.divergence for reading in place.layers]
    across = axis("layer", outer=True, zeroline=False, dtick=1 if result.depth <= 8 else 2 if result.depth <= 14 else 4)
    kind = "log" if result.classes > 10 else "linear"  # two classes have no powers of ten
    panels = [
        Panel(shares, across, axis("probability", percent=True, span=(0, 1.04))),
        Panel(ranks, across, axis("rank", type=kind, down=True, tickformat=",d", dtick=1)),  # every power of ten
        Panel(
            [_over_depth(bits, "KL", "%{y:.2f} bits", "@third", showlegend=False)],
            across,
            axis("KL from the final, bits", zero=True),
        ),
    ]
    return picture(depth_sentence(place), panels, height=300, phone=660, legend=True, legend_size=15, above=8)


def _over_depth(values: Sequence[float], name: str, shown: str, colour: str, **more: Any) -> Trace:
    hover, names = f"%{{customdata}}, layer %{{x}}: {shown}", [name] * len(values)
    look: Look = {"size": 7, "legendgroup": name, "showlegend": True, **more}
    return line(range(len(values)), values, colour, name, hover=hover, customdata=names, **look)


def depth_sentence(place: Place) -> str:
    """Say how far each layer's distribution is from the final one."""
    bits = [reading.divergence for reading in place.layers]
    if not bits[0]:
        return "The distribution of layer 0 is the final one already."
    # The last is always found: its divergence is 0.
    half = next(reading.layer for reading in place.layers if reading.divergence <= bits[0] / 2)
    start = f"The distribution of layer 0 is {bits[0]:#.3g} bits (KL divergence) from the final one; "
    # Only the last layer is below half, and it is 0 by definition.
    if half == len(bits) - 1:
        return f"{start}layer {half - 1} is {bits[half - 1]:#.3g} bits from it, more than half of that."
    return f"{start}in layer {half} no more than half of that is left ({bits[half]:#.3g} bits)."


def lens_notes(result: LensResult, place: Place) -> Markup:
    """Say how the answer and the followed word stand, what is outlined, what was read, and the caution."""
    parts = [
        *_standings(result, place),
        "Outlined: the final answer" + ("; dotted: the followed word. " if result.follow else ". "),
    ]
    if result.cut:
        parts.append("A left-to-right model reads only what stands before the blank, so the text was cut there. ")
    if result.asked == "replaced":
        parts.append("This model judges every token, original or replaced; press one to read it. ")
    elif len(result.places) > 1:
        parts.append("Press another mask to read it. ")
    parts.append(f"{CAUTION} {result.refused}")
    return caption(*parts)
