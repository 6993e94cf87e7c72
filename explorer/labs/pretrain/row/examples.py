"""Worked examples of one row."""

from __future__ import annotations

from typing import Any

LIGHTHOUSE = (
    "The old lighthouse was built in 1871 on a rock off the coast. "
    "Its keepers lit the lamp every evening to guide the ships. "
    "In winter the sea was so rough that no boat could reach them for weeks. "
    "Today the lamp is switched on by a computer in the harbour."
)
BREAD = (
    "Bread is made of flour, water, salt and yeast. "
    "The dough has to rest for an hour before it is baked. "
    "A hot oven gives the loaf a dark crust."
)
SHIPS = (
    "The harbour was rebuilt after the great storm of 1953. "
    "Large ships are guided by pilots who know every rock. "
    "At night they steer by the lights on the coast."
)
SEED = 34
"""The page's first draw: B comes from elsewhere, which is the case to learn from, and all three fates occur."""


def _asked(**changes: Any) -> dict[str, Any]:
    usual = {"document_a": LIGHTHOUSE, "document_b": BREAD, "next": "drawn", "rate": 0.15, "scheme": "token"}
    return {**usual, **changes}


TRY = {
    "B really next": _asked(next="next"),
    "Elsewhere, but on the same topic": _asked(document_b=SHIPS, next="elsewhere"),
    "Hide half of it": _asked(next="next", rate=0.5),
}
"""One-click experiments."""
