"""Worked examples of a text that is continued."""

from __future__ import annotations

from typing import Any

TEXT = "In 1994 the band released its first album,"
TOKENS = 24
SEED = 0

EVERYTHING = ("greedy", "beam", "top_k", "top_p", "temperature")


def _asked(text: str = TEXT, decoding: tuple[str, ...] = EVERYTHING, **changes: Any) -> dict[str, Any]:
    usual = {"tokens": TOKENS, "k": 40, "p": 0.9, "temperature": 0.7}
    return {"text": text, "decoding": list(decoding), **usual, **changes}


TRY = {
    "Wait for the loop": _asked("The king of Spain was born in", ("greedy", "beam"), tokens=60),
    "Too hot": _asked("The recipe takes flour, water and", ("top_p", "temperature"), temperature=1.8, tokens=30),
    "A small k, a small p": _asked(decoding=("greedy", "top_k", "top_p"), k=1, p=0.05),
}
"""One-click experiments."""
