"""Whether sharing one layer at all depths saves time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup

from explorer.charts.words import caption, compact, milliseconds, prose, quoted, strong
from explorer.kinds import Whole
from explorer.params import Shown, params
from explorer.tables import Table

TOKENS = 64
"""Of the one text that is read."""

VOCABULARY = 30_000
"""ALBERT's. A word's row is looked up and not multiplied, but a training step has the whole table to update."""

SHARED = {"none": "each depth its own layer", "all": "one layer for all depths"}
WIDE = "wide"
"""Beside SHARED: one layer for all depths, and embeddings as wide as it."""

PASSES = {"forward": "forward pass", "step": "training step"}


@params
class SpeedParams:
    """ALBERTs of these sizes, small enough to be timed while somebody waits: F = 4 H, a head for every 64 of H."""

    layers: Annotated[int, Whole(1, 12), Shown("Layers L", slider=(1, 12))] = 6
    hidden_size: Annotated[
        int, Whole(64, 384), Shown("Width H", "Rounded down to a multiple of 64.", slider=(64, 384, 64))
    ] = 384
    embedding_size: Annotated[
        int, Whole(16, 384), Shown("Width of the embeddings, E", "At most H.", slider=(16, 384, 16))
    ] = 128


@dataclass(frozen=True)
class Timed:
    """One of SHARED, or WIDE, in one of PASSES: the median milliseconds, and the quartiles."""

    sharing: str
    work: str
    milliseconds: float
    low: float
    high: float


@dataclass(frozen=True)
class SpeedResult:
    """hidden_size, embedding_size: as they were timed. products: multiplications of one text's numbers by weights in
    the layers of a forward pass, the same in all.

    By what is shared: parameters of all layers, embeddings (the word table and its map to the layers' width). WIDE is
    missing if the embeddings are as wide as the layers anyway.
    """

    layers: int
    hidden_size: int
    embedding_size: int
    parameters: dict[str, int]
    embeddings: dict[str, int]
    products: int
    timed: tuple[Timed, ...]

    def of(self, sharing: str, work: str) -> Timed:
        """Return the times of one of them in one of PASSES."""
        return next(one for one in self.timed if (one.sharing, one.work) == (sharing, work))


ALIKE = 0.15
"""Two times that differ by less than this share are said to be about the same."""


def speed_table(result: SpeedResult) -> Table:
    """sharing (none, all, or wide: all, with E = H), work (forward, step), parameters (of the layers), embeddings (numbers of the
    word table and its map), milliseconds (median), low, high (quartiles).
    """
    return Table.each(
        result.timed,
        "sharing work",
        parameters=lambda one: result.parameters[one.sharing],
        embeddings=lambda one: result.embeddings[one.sharing],
        milliseconds="milliseconds",
        low="low",
        high="high",
    )


def speed_sentence(result: SpeedResult) -> Markup:
    """Say what sharing leaves of the parameters, and what it does to the times."""
    none, every = (result.parameters[sharing] for sharing in SHARED)
    times = ", ".join(f"a {said} takes {_in_words(_ratio(result, work))}" for work, said in PASSES.items())
    return prose("Sharing leaves ", strong(f"{compact(every)} of {compact(none)}"), f" parameters; here {times}.")


def _ratio(result: SpeedResult, work: str) -> float:
    """Return the time with sharing over the time without."""
    return result.of("all", work).milliseconds / result.of("none", work).milliseconds


def speed_notes(result: SpeedResult) -> Markup:
    """State the sizes, the multiplications that stay the same, and both times."""
    parts: list[str] = [
        f"{result.layers} layers of width {result.hidden_size}, and the same {compact(result.products)} multiplications for "
        f"{TOKENS} tokens with sharing as without it. On this machine a "
    ]
    for place, (work, said) in enumerate(PASSES.items()):
        before, after = result.of("none", work).milliseconds, result.of("all", work).milliseconds
        told = f"{milliseconds(before)} without sharing and {milliseconds(after)} with it, "
        parts += ["; a " if place else "", f"{said} takes {told}", _compared(after / before)]
    return caption(*parts, ".")


def width_sentence(result: SpeedResult) -> Markup:
    """Say what embeddings narrower than the layers save, of numbers and of time; nothing if they are as wide."""
    if WIDE not in result.embeddings:
        return Markup("")
    few, many = result.embeddings["all"], result.embeddings[WIDE]
    parts: list[str] = [f"Embeddings of width {result.embedding_size} in place of {result.hidden_size} leave "]
    parts.append(strong(f"{compact(few)} of {compact(many)}"))
    parts.append(f" numbers for {VOCABULARY:,} words. Beside the wide ones, ")
    for place, (work, said) in enumerate(PASSES.items()):
        ratio = result.of("all", work).milliseconds / result.of(WIDE, work).milliseconds
        parts += [" and " if place else "", f"a {said} takes ", strong(_compared(ratio))]
    return prose(*parts, ".")


def _in_words(ratio: float) -> str:
    return "about as long" if abs(ratio - 1) < ALIKE else "less time" if ratio < 1 else "more time"


def _compared(ratio: float) -> str:
    if abs(ratio - 1) < ALIKE:
        return "about the same"
    return f"{abs(1 - ratio):.0%} {'less' if ratio < 1 else 'more'}"


def speed_rows(result: SpeedResult) -> Markup:
    """Tabulate the times, with the quartiles."""
    heads = ("", "E", "in the layers", "in the embeddings", *(f"{said}, ms (quartiles)" for said in PASSES.values()))
    rows = []
    for sharing in result.parameters:
        times = [result.of(sharing, work) for work in PASSES]
        written = [f"{one.milliseconds:.1f} ({one.low:.1f} to {one.high:.1f})" for one in times]
        width = result.hidden_size if sharing == WIDE else result.embedding_size
        counts = (f"{result.parameters[sharing]:,}", f"{result.embeddings[sharing]:,}")
        rows.append((SHARED.get(sharing, SHARED["all"]), width, *counts, *written))
    return quoted(heads, rows, "Parameters, and medians on this machine with random weights")
