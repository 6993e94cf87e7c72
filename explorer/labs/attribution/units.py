"""Words out of tokens, and rank correlation: figures use them as well as jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from explorer.labs.attribution.schema import AttributionResult, Part, TokenView, Unit
from explorer.tasks.metrics import METRICS


def units_of(tokens: Sequence[TokenView], by: str) -> tuple[Unit, ...]:
    """Return the tokens themselves, or the words that they make up; special tokens stand alone."""
    groups: list[list[TokenView]] = []
    for token in tokens:
        if by == "words" and token.joined and groups:
            groups[-1].append(token)
        else:
            groups.append([token])
    return tuple(_unit(group) for group in groups)


def _unit(group: list[TokenView]) -> Unit:
    first = group[0]
    shown = "".join(token.shown for token in group)
    text = first.text if len(group) == 1 else shown
    return Unit(tuple(t.position for t in group), text, shown, first.joined, first.kept, first.segment)


def summed(values: Sequence[float], units: Sequence[Unit]) -> tuple[float, ...]:
    """Sum the numbers of all positions within each unit."""
    return tuple(math.fsum(values[position] for position in unit.positions) for unit in units)


def strengths(result: AttributionResult, part: Part) -> list[float] | None:
    """Return how much each unit counts whatever its sign, for those that the baseline changes; None until all are
    known.
    """
    values = [value for value, unit in zip(part.values, result.units, strict=True) if not unit.kept]
    known = [abs(value) for value in values if value is not None]
    return known if len(known) == len(values) else None


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties by their mean rank; None for fewer than three, or if one side is all
    ties.
    """
    if len(first) < 3:  # two are always in perfect order, or in reverse
        return None
    return METRICS["spearman"].compute(first, second)
