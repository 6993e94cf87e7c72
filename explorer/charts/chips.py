"""A text as chips: one for each token, some of which can be pressed. assets/chips.js draws a row, assets/aligned.js several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Chip = dict[str, Any]


def chip(
    text: str,
    title: str,
    style: str = "plain",
    *,
    joined: bool = False,
    position: int | None = None,
    pressed: bool = False,
    below: str = "",
    **more: Any,
) -> Chip:
    """Return the chip of one token. title: shown when the pointer rests on it. style: a class of the style sheet.
    below: in small type.

    joined: whether it continues the word before. position: what the page is told when it is pressed; None if it can't
    be.
    """
    look = {"style": style, "joined": joined, "below": below}
    return {"text": text, "title": title, **look, "position": position, "pressed": pressed, **more}


def chips(label: str, row: Iterable[Chip], **more: Any) -> dict[str, Any]:
    """Return a row of chips. label: its name for a screen reader. Further keywords come back when a chip is pressed."""
    return {"chips": list(row), "label": label, **more}


def aligned(label: str, rows: Iterable[tuple[str, str, Iterable[Chip]]]) -> dict[str, Any]:
    """Return rows of one text, token under token: (who, what it does, its chips). A phone leaves out who."""
    return {"label": label, "rows": [{"who": who, "does": does, "chips": list(row)} for who, does, row in rows]}
