"""Numbers as sliders and clients send them."""

from __future__ import annotations

from explorer.errors import BadInputError


def whole_number(value: object, name: str, least: int, most: int) -> int:
    """An int between two bounds, from whatever a slider or a client sent; raise BadInputError."""
    try:
        number = int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise BadInputError(f"{name} must be a whole number from {least} to {most:,}.") from None
    if not least <= number <= most:
        raise BadInputError(f"{name} must be a whole number from {least} to {most:,}.")
    return int(number)
