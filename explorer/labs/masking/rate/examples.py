"""What is read against the masking rate: bundled sentences, or the visitor's text."""

from __future__ import annotations

from explorer.settings import settings
from explorer.tasks.formats.text import TEXT
from explorer.tasks.sources import load
from explorer.text import checked_text

SENTENCES = 96
IN_A_ROW = 8
"""Sentences in a row of about 100 tokens: in a single one of ten tokens 5% would be as much as 10%."""

STORM = (
    "When the storm came, the keeper climbed the stairs and lit the lamp. All night the wind shook the windows of the "
    "lighthouse, and the waves broke over the rocks. In the morning the sea was calm again, and two ships that had been lost "
    "in the dark were lying safely in the harbour."
)
NAMES = (
    "Marie Curie was born in Warsaw in 1867. She moved to Paris, studied physics and mathematics at the university, and "
    "married Pierre Curie in 1895. In 1903 they received the Nobel Prize in Physics together with Henri Becquerel."
)
AGAIN = " ".join(5 * ["The old bridge across the river was closed for repairs."])
TRY = {
    "A story": {"text": STORM},
    "Names and dates": {"text": NAMES},
    "The same, five times": {"text": AGAIN},
    "The bundled sentences": {"text": ""},
}
"""One-click experiments."""


def texts_of(text: str) -> tuple[str, ...]:
    """Return what is read: the visitor's text, or rows of bundled sentences if there is none."""
    if text:
        return (checked_text(text),)
    held_out = load(TEXT.slug, settings()).validation["validation"][:SENTENCES]
    return tuple(
        " ".join(example.text for example in held_out[start : start + IN_A_ROW])
        for start in range(0, SENTENCES, IN_A_ROW)
    )
