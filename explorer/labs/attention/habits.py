"""What a head looks at in most rows of a text, where the rows have a choice and are enough to speak of a habit."""

from __future__ import annotations

from explorer.labs.attention.schema import AttentionResult

HABITS = {
    "to_previous": "looks mostly at the previous token",
    "to_next": "looks mostly at the next token",
    "to_itself": "looks mostly at the token itself",
}

FEWEST_ROWS = 3
"""Rows that make a habit."""


def habit_of(result: AttentionResult) -> str | None:
    """The first of HABITS that takes more than half of the attention."""
    return next((text for name, text in HABITS.items() if _share(result, name) > 0.5), None)


def _share(result: AttentionResult, name: str) -> float:
    """The mean share of one of HABITS over the rows that have a choice; 0 where these are too few.

    A model that sees no later token has to look at the first one from there, and none has a next one to look at.
    """
    offset = {"to_previous": -1, "to_next": 1, "to_itself": 0}[name]
    length = len(result.tokens)
    rows = [row for row in range(1 if result.causal else 0, length) if 0 <= row + offset < length]
    if len(rows) < FEWEST_ROWS:
        return 0.0
    if not result.causal:
        return result.facts.value(name) or 0.0
    return sum(result.weights.row(row)[row + offset] for row in rows) / len(rows)
