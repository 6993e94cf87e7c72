"""What is said of a layer-by-layer attribution: through which token the difference flows."""

from __future__ import annotations

from itertools import groupby

from markupsafe import Markup

from explorer.charts.words import caption as small
from explorer.charts.words import in_quotes, percent, prose
from explorer.labs.attribution.figures import unit_said, which
from explorer.labs.attribution.schema import AttributionResult


def layers_sentence(result: AttributionResult) -> Markup:
    """Say through which token the largest part flows in the first layer and in the last.

    It is called "most" if it is more than half in both.
    """
    found = _flows(result)
    if found is None:
        return Markup("")
    leading, shares = found
    first, last = leading[0], leading[-1]
    start = "Most" if min(shares[0], shares[-1]) > 0.5 else "The largest part"
    named = unit_said(result, result.units[first])
    said = prose(start, " of the difference from the baseline flows through ", named)
    if len(set(leading)) == 1:
        return prose(said, " in every layer." if len(leading) > 1 else " in the one layer.")
    if first == last:
        return prose(said, " in the first layer and in the last.")
    return prose(said, " in the first layer and through ", unit_said(result, result.units[last]), " in the last.")


def layers_notes(result: AttributionResult) -> Markup:
    """Say layer by layer through which token most flows, with the shares, and what every layer adds up to."""
    found = _flows(result)
    if found is None:
        return Markup("")
    leading, shares = found
    grouped = groupby(enumerate(leading, start=1), key=lambda pair: pair[1])
    stretches = [(unit, [number for number, _ in group]) for unit, group in grouped]
    pieces: list[str] = ["Most" if min(shares) > 0.5 else "The largest part", " of it flows through "]
    for place, (number, layers) in enumerate(stretches):
        where = f"layer {layers[0]}" if len(layers) == 1 else f"layers {layers[0]} to {layers[-1]}"
        held = [shares[layer - 1] for layer in layers]
        share = percent(held[0]) if len(held) == 1 else f"{percent(min(held))} to {percent(max(held))}"
        unit = result.units[number]
        named = prose(in_quotes(unit.shown, bold=False), which(result, unit))
        pieces += [", then " if place else "", named, f" ({where}: {share})"]
    last = " After the last layer it is read at one token alone, so all of it stands there."
    # From here on it would be written as 100%.
    rest = f". Each layer hands on the same sum, f(x) − f(baseline).{last if shares[-1] > 0.9995 else ''}"
    return small(*pieces, rest)


def _flows(result: AttributionResult) -> tuple[list[int], list[float]] | None:
    """Return, for each layer, the number of the unit that most flows through, and its share of what flows there."""
    part = next((part for part in result.chosen if part.layers), None)
    if part is None:
        return None
    side = 1 if result.asked.change >= 0 else -1  # a text may speak against its answer
    leading = [max(range(len(row)), key=lambda number: side * row[number]) for row in part.layers]
    return leading, [
        # A share of all that flows, whatever its sign: signs would cancel.
        abs(row[number]) / (sum(map(abs, row)) or 1.0)
        for row, number in zip(part.layers, leading, strict=True)
    ]
