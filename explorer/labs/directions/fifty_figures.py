"""The fifty sentences by four readers: a table, a sentence and a chart, from plain results."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from explorer.charts import Look, Panel, Picture, axis, picture, points
from explorer.charts.words import caption, label, ordinal, percent, progress_bar, prose, strong
from explorer.labs.directions.blank_figures import COLOURS, SYMBOLS
from explorer.labs.directions.schema import DECODER, ENCODER, KINDS, READERS, FiftyResult, Told
from explorer.tables import Table

TITLES = {"right": "the right tells", "left": "the left tells", "both": "both are needed"}
NAMES = {"left": "left, {}", "right": "right, {}", "both": "both sides, {}"}
LEAST = -6
"""The low end of the scale, as a power of ten; what is below stands there."""


def fifty_table(result: FiftyResult) -> Table:
    """sentence (from 1), kind, text, word, context, model, rank, probability, entropy (in nats)."""
    found = [
        (one.number, one.kind, one.text, one.word, said.context, said.model, said.rank, said.probability, said.entropy)
        for one in result.told
        for said in one.readings
    ]
    heads = ("sentence", "kind", "text", "word", "context", "model", "rank", "probability", "entropy")
    return Table.of(heads, found)


def fifty_sentence(result: FiftyResult) -> Markup:
    """Say in how many both sides beat either."""
    leading = strong(f"{result.leading} of {len(result.told)}")
    said = f"With both sides {ENCODER} gives the true word more than with left or right alone in "
    return prose(said, leading, " sentences.")


def fifty_notes(result: FiftyResult) -> Markup:
    """State each reader's mean, and how the decoder compares with the encoder if both read the left."""
    done = result.told
    decoder, left, right, both = (percent(_mean(done, reader)) for reader in range(len(READERS)))
    # In the order of READERS: the decoder's left, the encoder's.
    ahead = sum(one.readings[0].probability > one.readings[1].probability for one in done)
    return caption(
        f"Geometric mean of the true word's probability: both {both}, left {left}, right {right}; {DECODER}, from the left, "
        f"{decoder}. {ENCODER} was never trained to read one side, {DECODER} only the left: much smaller, it leads {ENCODER}'s "
        f"left in {ahead} of {len(done)}."
    )


def fifty_bar(result: FiftyResult) -> Markup:
    """Return a bar of how much is done; nothing when all is."""
    share = len(result.told) / result.total
    return progress_bar(share, "sentences read") if share < 1 else Markup("")


def _mean(told: Sequence[Told], reader: int) -> float:
    """Return the geometric mean of a reader's probabilities of the true word."""
    # 0 has no logarithm.
    return math.exp(sum(math.log(max(one.readings[reader].probability, 1e-30)) for one in told) / len(told))


def fifty_figure(result: FiftyResult) -> Picture:
    """Draw a panel a kind of sentence, a column a sentence, a mark a reader; the surest with both sides come first."""
    powers = range(0, LEAST - 1, -1)
    ticks: Look = {
        "tickvals": [10.0**power for power in powers],
        "ticktext": [f"{10.0 ** (power + 2):g}%" for power in powers],
    }
    panels = []
    for kind in KINDS:
        told = sorted((one for one in result.told if one.kind == kind), key=lambda one: -one.readings[3].probability)
        places = list(range(1, len(told) + 1))
        drawn = [_marks(told, places, reader) for reader in range(len(READERS))]
        # While sentences come in, columns keep their width.
        room = max(10, len(told)) if result.told[-1].number < result.total else len(told)
        across = axis(grid=False, zeroline=False, span=(0.2, room + 0.8), showticklabels=False)
        up = axis("probability of the true word", log=True, span=(LEAST - 0.2, 0.2), outer=True, **ticks)
        panels.append(Panel(drawn, across, up, TITLES[kind], width=1.0 if kind != "both" else 0.55))
    look: Look = {"legend": True, "phone": 1100, "gap": 0.02, "above": 60}
    return picture(fifty_sentence(result), panels, height=430, low=400, **look)


def _marks(told: Sequence[Told], places: Sequence[int], reader: int) -> dict[str, object]:
    context, model = READERS[reader]
    said = [one.readings[reader] for one in told]
    read = [
        [label(_with_blank(one), 90), label(one.word), percent(mark.probability), ordinal(mark.rank)]
        for one, mark in zip(told, said, strict=True)
    ]
    look: Look = {"size": 11, "symbol": SYMBOLS[context, model], "customdata": read}
    look["hover"] = "%{customdata[0]}<br>%{customdata[1]}: %{customdata[2]}, %{customdata[3]}"
    name = NAMES[context].format(model)
    shares = [max(mark.probability, 10.0**LEAST) for mark in said]
    return points(places, shares, COLOURS[context, model], name, aside=name, **look)


def _with_blank(one: Told) -> str:
    return f"{one.text[: one.start]}___{one.text[one.start + len(one.word) :]}"
