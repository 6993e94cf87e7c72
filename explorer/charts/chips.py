"""A text as chips: one for each token, some of which can be pressed. assets/chips.js draws a row, assets/aligned.js several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class TokenView:
    """A token that can be hidden: `state` is special, plain, masked (its token is known) or blank (typed as a mask); start and
    stop are its characters in the text."""

    position: int
    text: str
    shown: str
    joined: bool
    state: str
    unknown: bool
    start: int
    stop: int


def hiding_chips(
    model: str, text: str, mask_token: str, tokens: Iterable[TokenView], in_view: bool = False
) -> dict[str, Any]:
    """Return a text's chips: which can be pressed, which are masked. in_view: those that are pressed stay as they are."""
    row = []
    for token in tokens:
        hidden, masked = token.state in ("masked", "blank"), token.state == "masked"
        title = f"{token.text}, position {token.position}"
        title += " (not in this model's vocabulary)" if token.unknown else ""
        style = "mask" if hidden else "special" if token.state == "special" else "plain"
        position = token.position if token.state in ("plain", "masked") else None
        below = token.shown if masked and not in_view else ""
        name = mask_token if hidden and not (masked and in_view) else token.shown
        look: dict[str, Any] = {"joined": token.joined, "below": below, "span": [token.start, token.stop]}
        row.append(chip(name, title, style, position=position, pressed=masked, **look))
    return chips("Tokens. Press one to hide it.", row, source={"model": model, "text": text})


def hidden_for(chips: dict[str, Any], model: str, text: str, hidden: str) -> dict[str, Any]:
    """Return what of the hidden tokens still holds, as parameters of a new request.

    Positions belong to one text and one model's tokens. For another text only words stay; for another model the pressed
    chips are handed on as characters of the text.
    """
    source = chips.get("source")
    if not source:  # nothing is answered yet: what is hidden came with the text, from the page's address
        return {"also_mask": hidden}
    if source.get("text") != text:
        words = [entry.strip() for entry in hidden.split(",") if entry.strip() and not entry.strip().isdecimal()]
        return {"also_mask": tuple(word for word in words if word in text)}
    if source.get("model") != model:
        return {"also_mask": (), "spans": tuple(tuple(chip["span"]) for chip in chips["chips"] if chip["pressed"])}
    return {"also_mask": hidden}
