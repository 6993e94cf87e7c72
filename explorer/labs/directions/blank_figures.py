"""One blank by four readers: chips, what each says, and who looks at whom, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from explorer.charts import (
    MAGNITUDE,
    Axis,
    Look,
    Panel,
    Picture,
    Trace,
    axis,
    colorbar,
    frame,
    heat,
    picture,
    points,
    rows,
)
from explorer.charts.chips import chip, chips
from explorer.charts.words import caption, counted, facts, in_quotes, label, measures, ordinal, percent, prose, strong
from explorer.labs.directions.schema import DECODER, ENCODER, Chip, DirectionsResult, Reading, Sight, SightResult
from explorer.tables import Table

COLOURS = {
    ("left", DECODER): "@fifth",
    ("left", ENCODER): "@second",
    ("right", ENCODER): "@third",
    ("both", ENCODER): "@first",
}
"""Of each reader, by its side and its model."""

SYMBOLS = {
    ("left", DECODER): "triangle-right-open",
    ("left", ENCODER): "triangle-right",
    ("right", ENCODER): "triangle-left",
    ("both", ENCODER): "circle",
}
"""Where it comes from: a reader of the left goes to the right."""

MOST_NAMES = 18
"""Columns of a triangle that there is room to name where two stand in a row."""

MOST_BESIDE = 14
"""Tokens up to which all four triangles stand in one row."""

FULLEST = 0.5
"""The weight from which on cells are as full as can be: few are beyond it but for those that may see nothing else."""

MASKS, WEIGHTS = "masks", "weights"
"""What the grids show: what may be looked at, or how much each cell is."""

INK_ON_PAPER = [[0, "@inside"], [1, "@text"]]

_KEY: Look = {"tickvals": [0, 0.1, 0.2, 0.3, 0.4, 0.5], "ticktext": ["0%", "10%", "20%", "30%", "40%", "≥ 50%"]}

LEAST = -4
"""The lowest end of the scale of probabilities, as a power of ten, where none is below it."""


def named(reading: Reading | Sight) -> str:
    """Name a reader by its side and its model."""
    return f"{reading.context} · {reading.model}"


def blank_chips(text: str, tokens: Sequence[Chip], masked: bool = True) -> dict[str, Any]:
    """Return the sentence as bert-small reads it; any other word can be pressed.

    masked: whether the asked one stands as [MASK].
    """
    row = []
    for token in tokens:
        style = "mask" if token.asked else "plain" if token.pressable else "special"
        position = token.position if token.pressable and not token.asked else None
        title = f"{token.text}, position {token.position}{', hidden' if token.asked and masked else ''}"
        shown, below = ("[MASK]", token.shown) if token.asked and masked else (token.shown, "")
        row.append(chip(shown, title, style, joined=token.joined, position=position, below=below))
    return chips("Tokens. Press a word to ask for that one.", row, of=text)


def masked_chips(result: DirectionsResult) -> dict[str, Any]:
    """Return the sentence with its blank."""
    return blank_chips(result.text, result.chips)


def directions_table(result: DirectionsResult) -> Table:
    """context, model, rank, probability, entropy (in nats)."""
    return Table.each(result.readings, "context model rank probability entropy")


def directions_sentence(result: DirectionsResult) -> Markup:
    """State the true word's probability from both sides and from the better of the two alone, for bert-small."""
    _, left, right, both = result.readings  # in the order of READERS
    side, most = ("left", left) if left.probability > right.probability else ("right", right)
    parts = [
        "From both sides ",
        strong(both.model),
        " gives ",
        in_quotes(result.word),
        " ",
        strong(percent(both.probability)),
    ]
    parts += [f", from the {side} alone ", strong(percent(most.probability)), "."]
    if most.probability > both.probability:
        parts.append(f" Here the {side} {'is enough' if most.rank == 1 else 'alone gives it more than both sides'}.")
    return prose(*parts)


def directions_notes(result: DirectionsResult) -> Markup:
    """State entropies, and what else has to be known: pieces, and that [CLS] stays."""
    lines = []
    for one in result.readings:
        asked = [] if one.truth.strip() == result.word else [f"asked: {one.truth.strip()}"]
        rank = f"rank {one.rank:,} of {one.vocabulary:,}"
        lines.append(measures(f"entropy {one.entropy:.2f} nats", rank, *asked, name=named(one)))
    said = caption()
    if result.pieces > 1:
        said = caption(
            f"“{result.word}” is {counted(result.pieces, 'piece')} to {ENCODER}: all are hidden, and the first is asked for. "
            "How many [MASK]s there are gives its length away to the readers of the right; those of the left see none after the "
            "first."
        )
    elif result.readings[0].truth.strip() != result.word:
        first = result.readings[0].truth.strip()
        said = caption(f"{DECODER} writes “{result.word}” in pieces, and its first, “{first}”, is asked for.")
    return facts(*lines) + (said if said.striptags() else Markup(""))


def directions_figure(result: DirectionsResult) -> Picture:
    """Draw, a row a reader, the true word's probability and rank, and beside them the reader's first guesses."""
    readings, places = result.readings, list(range(len(result.readings)))
    names = [f"{one.context}<br>{one.model}" for one in readings]
    # A probability of 0 has no logarithm.
    low = min(LEAST, *(math.floor(math.log10(max(one.probability, 1e-12))) for one in readings))
    look: Look = {
        "symbol": [SYMBOLS[one.context, one.model] for one in readings],
        "texts": [f" {percent(one.probability)} · {ordinal(one.rank)} " for one in readings],
        # The text is on the side with more room.
        "textposition": ["middle left" if one.probability > 10 ** (low / 2) else "middle right" for one in readings],
        "textfont": {"size": 15},
        "hover": "%{x:.4%}",
    }
    shares = [max(one.probability, 10.0**low) for one in readings]
    marks = points(shares, places, [COLOURS[one.context, one.model] for one in readings], size=15, **look)
    powers = range(0, low - 1, -2)
    ticks: Look = {  # every second power, since names are long
        "tickvals": [10.0**power for power in powers],
        "ticktext": [f"{10.0 ** (power + 2):g}%" for power in powers],
    }
    across = axis(log=True, span=(low - 0.2, 0.25), zeroline=False, **ticks)
    down, other = ({**rows(names, range=[3.5, -0.5], outer=True), "autorange": False, "zeroline": False} for _ in "ab")
    title = f"probability of “{label(result.word, 14)}” · rank"
    guessed = Panel(*_guesses(readings, places), other, "first guesses", _frames(readings), width=1.75)
    narrow = Panel((), _ranks(3), other, "first guesses", _frames(readings, 3))  # a phone has room for three
    panels = [
        Panel([marks], across, down, title),
        Panel(guessed.traces, guessed.x, other, guessed.title, guessed.marks, 1.75, alone=narrow),
    ]
    return picture(directions_sentence(result), panels, height=300, low=270, phone=640, gap=0.03, above=34)


def _ranks(last: int) -> Axis:
    places = list(range(1, last + 1))
    return axis(
        grid=False, zeroline=False, span=(0.5, last + 0.5), tickvals=places, ticktext=[ordinal(n) for n in places]
    )


def _guesses(readings: Sequence[Reading], places: list[int]) -> tuple[list[Any], Axis]:
    """Draw the first guesses as cells, coloured by probability."""
    shares = [[guess.probability for guess in one.guesses] for one in readings]
    written = [[f"{token_name(g.token, 9)}<br>{percent(g.probability)}" for g in one.guesses] for one in readings]
    whole = [[token_name(guess.token, 40) for guess in one.guesses] for one in readings]
    count = len(shares[0])
    look: Look = {"texts": written, "size": 14, "hover": "%{customdata} %{z:.4%}", "customdata": whole}
    return heat(range(1, count + 1), places, shares, MAGNITUDE, gap=3, **look), _ranks(count)


def _frames(readings: Sequence[Reading], last: int = 99) -> list[Any]:
    """Draw frames around the true word in rows that have it among the first."""
    return [
        frame((one.rank - 0.48, one.rank + 0.48), (row - 0.46, row + 0.46))
        for row, one in enumerate(readings)
        if one.rank <= min(last, len(one.guesses))
    ]


def token_name(token: str, longest: int = 12) -> str:
    """Name a token in a cell or on an axis: never empty, never markup, never long."""
    return label(token.strip() or repr(token), longest)


def sight_table(result: SightResult) -> Table:
    """context, model, layer, from, to (positions), from_token, to_token, weight; what may not be looked at has no row."""
    found = [
        (sight.context, sight.model, sight.layer, one, other, sight.tokens[one], sight.tokens[other], weight)
        for sight in result.sights
        for one, row in enumerate(sight.weights)
        for other, weight in enumerate(row)
        if weight is not None
    ]
    return Table.of(("context", "model", "layer", "from", "to", "from_token", "to_token", "weight"), found)


def sight_sentence(result: SightResult, show: str = MASKS) -> Markup:
    """Say what the cells show: of the masks what may be looked at, of the weights what a mask does to them."""
    if show == MASKS:
        return prose("Filled cells may be looked at, empty ones may not, in every head of every layer alike.")
    return prose("What a reader may not look at has a weight of ", strong("exactly 0"), ": the empty cells.")


def sight_notes(result: SightResult, show: str = MASKS) -> Markup:
    """Say how much of the input each reader's answering position may look at; of the weights, where it looks most."""
    parts: list[str] = []
    for sight in result.sights[1:]:  # the first is the decoder, told of below
        row = sight.weights[sight.place]
        seen = {place: weight for place, weight in enumerate(row) if weight is not None}
        side = "both sides" if sight.context == "both" else f"the {sight.context}"
        parts.append(f"From {side} the blank sees {len(seen)} of {len(row)} positions")
        if show == WEIGHTS:
            most = max(seen, key=lambda place: seen[place])
            parts += [", most of all ", in_quotes(sight.tokens[most], bold=False), f" ({percent(seen[most])})"]
        parts.append(". ")
    return caption(*parts, f"{DECODER} answers from the token before the word (outlined row).")


def sight_figure(result: SightResult, show: str = MASKS) -> Picture:
    """Draw four grids: a row for each position that looks, a column for each looked at; the answering row is outlined."""
    longest = max(len(sight.tokens) for sight in result.sights)
    beside = len(result.sights) if longest <= MOST_BESIDE else 2
    each = 22 * longest + 110
    height = each * len(result.sights) // beside
    key = colorbar("weight", ".0%", **_KEY)
    scale = {"coloraxis": {"colorscale": MAGNITUDE, "cmin": 0, "cmax": FULLEST, "colorbar": key}}
    colours: Look = {"plot_bgcolor": "@grid"} if show == MASKS else scale
    panels = [_sight_panel(sight, show, MOST_NAMES * 2 // beside) for sight in result.sights]
    look = {"columns": beside, "gap": 0.14 if beside == 2 else 0.08, "phone": each * len(result.sights), **colours}
    return picture(sight_sentence(result, show), panels, height=height, **look)


def _sight_panel(sight: Sight, show: str, most: int) -> Panel:
    """Draw one reader's grid. most: columns that are named; of more every second or third is."""
    names, count = [token_name(token) for token in sight.tokens], len(sight.tokens)
    places, step, ends = list(range(count)), -(-count // most), (-0.5, count - 0.5)  # rounded up
    look: Look = {"grid": False, "zeroline": False, "size": 14}
    across = axis(span=ends, tickvals=places[::step], ticktext=names[::step], tickangle=-60, **look)
    down = axis(span=ends[::-1], tickvals=places, ticktext=names, **look)  # the first token is on top
    outline = frame(ends, (sight.place - 0.5, sight.place + 0.5))
    title = named(sight) if show == MASKS else f"{named(sight)}, layer {sight.layer}"
    cells = _mask_cells(sight, names) if show == MASKS else _weight_cells(sight, names)
    return Panel(cells, across, down, title, [outline], air=120)


def _mask_cells(sight: Sight, names: Sequence[str]) -> list[Trace]:
    """Draw in ink what may be looked at, and leave the rest as paper."""
    allowed = [[0 if weight is None else 1 for weight in row] for row in sight.weights]
    read = [
        [f"{one} {'may look at' if seen else 'never looks at'} {other}" for other, seen in zip(names, row, strict=True)]
        for one, row in zip(names, allowed, strict=True)
    ]
    places = range(len(names))
    return heat(places, places, allowed, INK_ON_PAPER, gap=1, customdata=read, hover="%{customdata}")


def _weight_cells(sight: Sight, names: Sequence[str]) -> list[Trace]:
    read = [[f"{one} → {other}" for other in names] for one in names]
    look: Look = {"hover": "%{customdata}: %{z:.2%}", "hoverongaps": False, "shared": True, "gap": 1}
    places = range(len(names))
    return heat(places, places, sight.weights, MAGNITUDE, customdata=read, **look)
