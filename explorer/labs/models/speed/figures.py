"""The speed of shared layers: a sentence and tables."""

from __future__ import annotations

from markupsafe import Markup

from explorer.charts.words import compact, milliseconds, prose, quoted, strong
from explorer.labs.models.speed.schema import PASSES, SHARED, TOKENS, SpeedResult
from explorer.tables import Table

ALIKE = 0.15
"""Two times that differ by less than this share are said to be about the same."""


def speed_table(result: SpeedResult) -> Table:
    """sharing (none, all), work (forward, step), parameters (of the layers), milliseconds (median), low, high (quartiles)."""
    return Table.each(
        result.timed,
        sharing=lambda one: one.sharing,
        work=lambda one: one.work,
        parameters=lambda one: result.parameters[one.sharing],
        milliseconds=lambda one: one.milliseconds,
        low=lambda one: one.low,
        high=lambda one: one.high,
    )


def speed_sentence(result: SpeedResult) -> Markup:
    """Parameters against times."""
    none, every = (result.parameters[sharing] for sharing in SHARED)
    parts: list[str] = [
        f"{result.layers} layers of width {result.hidden_size}: sharing leaves ",
        strong(f"{compact(every)} of {compact(none)}"),
        f" parameters, and the same {compact(result.products)} multiplications for {TOKENS} tokens. On this machine a ",
    ]
    for place, (work, said) in enumerate(PASSES.items()):
        before, after = result.of("none", work).milliseconds, result.of("all", work).milliseconds
        told = f"{milliseconds(before)} without sharing and {milliseconds(after)} with it, "
        parts += ["; a " if place else "", f"{said} takes {told}", strong(_compared(after / before))]
    return prose(*parts, ".")


def _compared(ratio: float) -> str:
    if abs(ratio - 1) < ALIKE:
        return "about the same"
    return f"{abs(1 - ratio):.0%} {'less' if ratio < 1 else 'more'}"


def speed_rows(result: SpeedResult) -> Markup:
    """The times, with the quartiles."""
    heads = ("", "parameters of the layers", *(f"{said}, ms (quartiles)" for said in PASSES.values()))
    rows = []
    for sharing, said in SHARED.items():
        times = [result.of(sharing, work) for work in PASSES]
        written = [f"{one.milliseconds:.1f} ({one.low:.1f} to {one.high:.1f})" for one in times]
        rows.append((said, f"{result.parameters[sharing]:,}", *written))
    return quoted(heads, rows, "Medians on this machine, with random weights")
