"""A lab in one file: how long the tokens of a sentence are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from explorer.action import Action, Lab
from explorer.charts import Picture, axis, bars, chart
from explorer.engine.protocol import Job
from explorer.params import Text, params
from explorer.tab import Figure, Tab, Why
from explorer.tables import Table

if TYPE_CHECKING:
    from explorer.models.loaded_model import LoadedModel


@params
class LengthsParams:
    text: Text = "A cat sat on the mat."


@dataclass(frozen=True)
class Lengths:
    tokens: tuple[str, ...]


def toy_lengths(loaded: LoadedModel, params: LengthsParams) -> Lengths:
    """The letters of each token of a sentence."""
    from explorer.models.encoding import encode  # here: torch comes with it, and a page needs none

    return Lengths(tuple(token.text for token in encode(loaded, params.text).tokens))


def lengths_table(result: Lengths) -> Table:
    """token, letters (a number)."""
    return Table.each(result.tokens, token=str, letters=len)


def lengths_sentence(result: Lengths) -> str:
    return f"{len(result.tokens)} tokens."


def lengths_figure(result: Lengths) -> Picture:
    drawn = bars(list(result.tokens), [len(token) for token in result.tokens], "@first", upright=True)
    return chart(lengths_sentence(result), [drawn], axis(names=True), axis("letters", zero=True))


MEASURE = Action(Job("explorer.labs.toy:toy_lengths"), LengthsParams, lengths_table)
TAB = Tab(
    "lengths",
    "Lengths",
    MEASURE,
    asks=("text",),
    figure=Figure("toy", "toy", lengths_sentence, lengths_figure),
    why=Why("letters are counted", "A token of $n$ letters counts $n$."),
)
LAB = Lab("toy", "Toy", "Read", "How long are the tokens?", "Count letters.", None, (MEASURE,), "explorer.labs.toy:TAB")
