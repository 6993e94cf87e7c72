"""Relative positions as a heatmap, a line, a sentence and a table."""

from __future__ import annotations

from collections import Counter

from markupsafe import Markup

from explorer.charts import CIVIDIS, Look, Panel, Picture, axis, heat, line, picture
from explorer.charts.words import caption, counted, prose, strong
from explorer.labs.inputs.relative.schema import ABLE, RelativeResult, refused
from explorer.tables import Table

MOST_WRITTEN = 16
"""Tokens up to which each cell has its number on it."""


def relative_table(result: RelativeResult) -> Table:
    """distance (i - j), row."""
    return Table.of(("distance", "row"), list(zip(result.distances, result.by_distance, strict=True)))


def relative_sentence(result: RelativeResult) -> Markup:
    """How many rows the distances of such a text take; else which model to take."""
    if not result.rows:
        offer = Markup('<button type="button" class="offer" data-model="{0}">{0}</button>').format(ABLE)
        return prose(refused(result.model)) + Markup("<p>Switch to: {}</p>").format(offer)
    count, rows = len(result.by_distance), len(set(result.by_distance))
    if rows == count:
        return prose("Each of the ", strong(f"{count:,} distances"), " in such a text has a row of its own.")
    said = "The ", strong(f"{count:,} distances"), " in such a text share ", strong(counted(rows, "row"))
    return prose(*said, " of the relative embeddings.")


def relative_notes(result: RelativeResult) -> Markup:
    """How many rows there are, and which distances have one of their own."""
    if not result.rows:
        return Markup("")
    count, rows = len(result.by_distance), len(set(result.by_distance))
    of = f"of the {2 * result.span:,} rows of {result.model}'s relative embeddings. "
    taken = f"A text of {result.length:,} tokens takes {rows:,} {of}"
    alone = _alone(result)
    if rows == count:
        return caption(taken, "None of its tokens is far enough from another to share one.")
    own = ""
    if len(alone) > 1:
        own = f"From {alone[0]} to {alone[-1]} each distance has a row of its own. ".replace("-", "−")
    elif alone:
        own = "Distance 0 has a row of its own. "
    return caption(
        taken,
        own,
        "Further ones share rows, the more the further: it is their logarithm that counts."
        if result.buckets
        else "Whatever is further has the first or the last row, so beyond that the model can't tell how far.",
    )


def _alone(result: RelativeResult) -> list[int]:
    """The distances around 0 that share their row with none, if 0 itself does not."""
    times = Counter(result.by_distance)
    own = {distance: times[row] == 1 for distance, row in zip(result.distances, result.by_distance, strict=True)}
    if not own[0]:
        return []
    low = high = 0
    while own.get(low - 1):
        low -= 1
    while own.get(high + 1):
        high += 1
    return list(range(low, high + 1))


def relative_figure(result: RelativeResult) -> Picture:
    """δ(i, j) for every two tokens, and beside it the row of each distance."""
    if not result.rows:
        return {}
    few = len(result.places) <= MOST_WRITTEN
    look: Look = {"gap": 1 if len(result.places) <= 40 else 0, "hover": "δ(%{y}, %{x}) = %{z}"}
    look |= {"texts": str, "size": 13} if few else {}
    ends = (min(map(min, result.rows)), max(map(max, result.rows)))
    cells = heat(result.places, result.places, result.rows, CIVIDIS, ends, **look)
    table = Panel(
        cells, axis("to token j", grid=False, top=True), axis("from token i", grid=False, down=True), width=1.1
    )
    marks: Look = {"size": 6} if few else {}
    steps = line(
        result.distances,
        result.by_distance,
        "@first",
        hover="distance %{x}: row %{y}",
        showlegend=False,
        **marks,
    )
    distance = Panel([steps], axis("distance i − j"), axis("row δ"))
    return picture(relative_sentence(result), [table, distance], height=430, gap=0.12, above=44, phone=820)
