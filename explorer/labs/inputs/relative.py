"""Relative positions: which row of DeBERTa's table stands for the way from one token to another."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from markupsafe import Markup

from explorer.action import Action
from explorer.charts import MAGNITUDE, Look, Panel, Picture, axis, heat, line, picture
from explorer.charts.words import caption, counted, prose, strong
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.kinds import MOST_TOKENS, Whole
from explorer.params import Shown, params
from explorer.plain import Asked, architecture_of, plain_script
from explorer.tables import Table

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel

ABLE = "deberta-mini"
"""The bundled model that has them."""


@params
class RelativeParams:
    """length: of a text, in tokens."""

    length: Annotated[int, Whole(2, MOST_TOKENS), Shown("Tokens in the text", slider=(2, 512))] = 12


@dataclass(frozen=True)
class RelativeResult:
    """rows[i][j]: δ, the row of the relative embeddings for the way from token places[i] to token places[j].

    span: k; the table has 2k rows. buckets: whether far distances share rows by their logarithm. by_distance: the row of each
    distance i - j from -(length - 1) to length - 1. All empty for a model without such a table.
    """

    model: str
    length: int
    span: int
    buckets: bool
    places: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    by_distance: tuple[int, ...]

    @property
    def distances(self) -> range:
        """The distances of by_distance."""
        return range(1 - self.length, self.length) if self.by_distance else range(0)


def refused(model: str) -> str:
    """Say why a model without a table of relative positions cannot answer."""
    return f"{model} has no table of relative positions. Choose a DeBERTa, such as {ABLE}."


def require_relative(result: RelativeResult) -> None:
    """Raise BadInputError for a model without relative positions; the page says it in a sentence."""
    if not result.rows:
        raise BadInputError(refused(result.model))


MOST_DRAWN = 64
"""Tokens in the heatmap; of a longer text every so many."""

MOST_WRITTEN = 16
"""Tokens up to which each cell has its number on it."""


def relative_rows(loaded: LoadedModel, params: RelativeParams) -> RelativeResult:
    """Read δ(i, j) for a text of so many tokens, as the model itself counts it (He et al. 2021, equation 3)."""
    from explorer.models.disentangled import relative_positions  # here: torch comes with it, and a page needs none

    length = params.length
    if length > loaded.longest:
        raise BadInputError(f"{loaded.model_id} reads at most {loaded.longest} tokens; take a shorter text.")
    found = relative_positions(loaded, length)
    if found is None:
        return RelativeResult(loaded.model_id, length, 0, False, (), (), ())
    places = tuple(range(0, length, -(-length // MOST_DRAWN)))  # rounded up
    rows = found.rows[list(places)][:, list(places)].tolist()
    # From i = 0 the distances are negative, to j = 0 positive.
    by_distance = [*found.rows[0].flip(0).tolist(), *found.rows[1:, 0].tolist()]
    return RelativeResult(
        loaded.model_id, length, found.span, found.buckets, places, tuple(map(tuple, rows)), tuple(by_distance)
    )


def relative_table(result: RelativeResult) -> Table:
    """distance (i - j), row."""
    return Table.of(("distance", "row"), list(zip(result.distances, result.by_distance, strict=True)))


def relative_sentence(result: RelativeResult) -> Markup:
    """Say how many rows the distances of such a text take, or which model to take."""
    if not result.rows:
        offer = Markup('<button type="button" class="offer" data-model="{0}">{0}</button>').format(ABLE)
        return prose(refused(result.model)) + Markup("<p>Switch to: {}</p>").format(offer)
    count, rows = len(result.by_distance), len(set(result.by_distance))
    if rows == count:
        return prose("Each of the ", strong(f"{count:,} distances"), " in such a text has a row of its own.")
    said = "The ", strong(f"{count:,} distances"), " in such a text share ", strong(counted(rows, "row"))
    return prose(*said, " of the relative embeddings.")


def relative_notes(result: RelativeResult) -> Markup:
    """Say how many rows there are, and which distances have one of their own."""
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
    """Return the distances around 0 that share their row with none, if 0 itself does not."""
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
    """Draw δ(i, j) for every two tokens, and beside it the row of each distance."""
    if not result.rows:
        return {}
    few = len(result.places) <= MOST_WRITTEN
    look: Look = {"gap": 1 if len(result.places) <= 40 else 0, "hover": "δ(%{y}, %{x}) = %{z}"}
    look |= {"texts": str, "size": 13} if few else {}
    ends = (min(map(min, result.rows)), max(map(max, result.rows)))
    cells = heat(result.places, result.places, result.rows, MAGNITUDE, ends, **look)
    table = Panel(
        cells, axis("to token j", grid=False, top=True), axis("from token i", grid=False, down=True), width=1.1
    )
    marks: Look = {"size": 6} if few else {}
    steps = line(
        result.distances, result.by_distance, "@first", hover="distance %{x}: row %{y}", showlegend=False, **marks
    )
    distance = Panel([steps], axis("distance i − j"), axis("row δ"))
    return picture(relative_sentence(result), [table, distance], height=430, gap=0.12, above=44, phone=820)


def _plain(asked: Asked) -> str:
    """Make the script; "" for a model without relative positions."""
    known = architecture_of(asked)
    return plain_script("relative_positions")(asked) if known is not None and asked.result.rows else ""


RELATIVE_POSITIONS = Action(
    Job("explorer.labs.inputs.relative:relative_rows"),
    RelativeParams,
    relative_table,
    require_relative,
    plain=_plain,
    called="relative_positions",
)
