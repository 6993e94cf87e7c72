"""Worked examples of the replaced-tokens lab."""

from __future__ import annotations

from typing import Any

TEXT = "The chef cooked the meal and the guests ate it in the garden."
TEMPERATURE, SEED = 0.7, 16
"""The first draw: the generator is nearly right with one word, which is missed, and wrong with another, which is caught."""

LIGHTHOUSE = (
    "The old lighthouse was built in 1871, and its keepers lit the lamp every evening. "
    "When the storm came, the light went out."
)

FILM = "The film is too long, the music is too loud, and nobody in the story does anything that I can believe."
BRIDGE = (
    "In 1912 the town built a new bridge across the river, which was opened by the mayor in front of a large crowd."
)


def _asked(text: str = LIGHTHOUSE, temperature: float = 1.0, rate: float = 0.15) -> dict[str, Any]:
    return {"text": text, "temperature": temperature, "rate": rate}


TRY = {
    "The likeliest tokens": _asked(temperature=0.0),
    "A hot generator": _asked(temperature=2.0),
    "Mask half of it": _asked(rate=0.5),
    "A film": _asked(FILM),
    "A bridge": _asked(BRIDGE),
}
"""One-click experiments."""

TEXTS = {"The chef": (TEXT,), "The lighthouse": (LIGHTHOUSE,), "A film": (FILM,), "A bridge": (BRIDGE,)}

_ALBUM, _KEYS = "The band released its first album in 1994.", "The keys to the cabinet are on the table."
BY_HAND = {
    "The wrong thing": (_ALBUM, "The band released its first soup in 1994."),
    "The paper's example": ("The chef cooked the meal.", "The chef ate the meal."),
    "A false date": (_ALBUM, "The band released its first album in 1694."),
    "The wrong kind of word": ("The dog barked at the postman.", "The dog barked at the although."),
    "Bad grammar": (_KEYS, "The keys to the cabinet am on the table."),
    "Subtler grammar": (_KEYS, "The keys to the cabinet is on the table."),
}
"""A text, and how it is shown; the first opens the tab."""
