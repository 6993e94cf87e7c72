"""Numbers as sliders, grids and clients send them."""

from __future__ import annotations

import math
import re

from explorer.errors import BadInputError

MOST_LAYERS = 1000
"""A bound before the model is known; the job refuses what the model does not have."""

MOST_HEADS = 5000

Head = tuple[int, int]
"""Layer and head, from 0."""


def whole_number(value: object, name: str, least: int, most: int) -> int:
    """An int between two bounds, from whatever a slider or a client sent; raise BadInputError."""
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise BadInputError(f"{name} must be a whole number from {least} to {most:,}.") from None
    if not least <= number <= most:
        raise BadInputError(f"{name} must be a whole number from {least} to {most:,}.")
    return int(number)


def real_number(value: object, name: str, least: float, most: float, above: bool = False) -> float:
    """A float between two bounds, the lower one left out where it must be `above` it; raise BadInputError."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (least < number if above else least <= number) or number > most:
        raise BadInputError(
            f"{name} must be a number {'above' if above else 'from'} {least:g} to {most:g}; got {value!r}."
        )
    return number


def exact_number(value: object, name: str, least: int, most: int) -> int:
    """As whole_number, but half a number is refused, and the sentence says what was sent."""
    number = real_number(value, name, least, most)
    if number != int(number):
        raise BadInputError(f"{name} must be a whole number; got {value!r}.")
    return int(number)


def parse_heads(value: object) -> tuple[Head, ...]:
    """(layer, head) pairs from a list of pairs or from "0.3, 2.11"; raise BadInputError."""
    if value is None:
        return ()
    if isinstance(value, str):
        entries: list[object] = _written(value)
    elif isinstance(value, (list, tuple)):
        entries = list(value)
    else:
        raise BadInputError('heads takes pairs of layer and head, such as [[0, 3], [2, 11]] or "0.3, 2.11".')
    if len(entries) > MOST_HEADS:
        raise BadInputError(f"heads takes at most {MOST_HEADS:,} pairs.")
    pairs = set()
    for entry in entries:
        if isinstance(entry, str):
            entry = entry.split(".")
        if not isinstance(entry, (list, tuple)) or len(entry) != 2:
            raise BadInputError('heads takes pairs of layer and head, such as [[0, 3], [2, 11]] or "0.3, 2.11".')
        layer, head = entry
        pairs.add((whole_number(layer, "layer", 0, MOST_LAYERS), whole_number(head, "head", 0, MOST_LAYERS)))
    return tuple(sorted(pairs))


def _written(value: str) -> list[object]:
    """Pairs from a text: "0.3, 2.11", or a list as a client's text box receives it."""
    if value.lstrip().startswith("["):
        numbers = re.findall(r"[^\[\](),\s]+", value)
        return [numbers[start : start + 2] for start in range(0, len(numbers), 2)]
    return [entry.split(".") for entry in re.split(r"[,;\s]+", value.strip()) if entry]
