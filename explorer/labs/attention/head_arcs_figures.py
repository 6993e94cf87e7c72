"""One head's weights as arcs over the chips (assets/arcs.js draws them)."""

from __future__ import annotations

from typing import Any

from explorer.labs.attention.head import AttentionResult
from explorer.labs.attention.head_figures import attention_sentence, rows_and_columns, strongest_link

MOST_ARCHED, MOST_ARCS, LEAST_ARC = 64, 400, 0.03
"""Tokens and arcs that can still be told apart, and the least weight that is drawn as one."""


def attention_arcs(result: AttentionResult, part: str = "all") -> dict[str, Any]:
    """Return the head's weights as arcs over the chips, the weak ones left out; nothing for a text of too many tokens."""
    if len(result.tokens) > MOST_ARCHED:
        return {}
    rows, columns = rows_and_columns(result, part)
    found = [(result.weights.row(i)[j], i, j) for i in rows for j in columns]
    links = sorted(one for one in found if one[0] >= LEAST_ARC)[-MOST_ARCS:]  # the strongest are drawn last, on top
    strongest = strongest_link(result)
    return {
        "links": [(i, j, round(weight, 4)) for weight, i, j in links],
        "count": len(result.tokens),
        "special": [token.position for token in result.tokens if token.special],
        "strongest": strongest[1:] if strongest else None,
        "described": f"Arcs from each token to those that it looks at. {attention_sentence(result).striptags()}",
    }
