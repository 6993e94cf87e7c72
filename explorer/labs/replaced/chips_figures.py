"""A text as chips: ELECTRA's loop in four rows, words replaced by hand, and what their colours mean."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from explorer.charts.chips import Chip, aligned, chip, chips
from explorer.labs.replaced.schema import JudgedToken, ReplacedResult

NAMES = {"hit": "replaced, found", "miss": "replaced, missed", "alarm": "false alarm", "right": "original"}
"""What a visitor reads for each of VERDICTS."""

OUTCOMES = {"hit": "found", "miss": "missed", "alarm": "false alarm", "right": ""}
"""The same in one word, where its token stands above it; of a token that is left in peace there is nothing to say."""

GUESSED = "guessed by the generator (★): counts as original"
_CALLED = {verdict: name for verdict, name in NAMES.items() if verdict != "right"}


def draw_legend() -> Markup:
    """Draw the marks of the four rows, in words."""
    return _legend({"mask": "masked", "differs": "not what stood there", "guessed": GUESSED, **_CALLED})


def hand_legend() -> Markup:
    """Draw the verdicts' colours, in words."""
    return _legend(_CALLED, "below a token: P(replaced)")


def _legend(marks: dict[str, str], note: str = "") -> Markup:
    swatches = Markup("").join(Markup('<span class="swatch {}">{}</span>').format(*mark) for mark in marks.items())
    below = Markup('<span class="below-note">{}</span>').format(note) if note else ""
    return Markup('<div class="legend verdicts">{}{}</div>').format(swatches, below)


def replaced_rows(result: ReplacedResult) -> dict[str, Any]:
    """Draw ELECTRA's loop, token under token: the text, what the generator sees of it, what it writes, and how likely the
    discriminator holds each to be replaced.
    """
    rows = (
        ("", "the text", _original),
        ("generator", "sees", _seen),
        ("generator", "writes", _written),
        ("discriminator", "replaced?", _judgement),
    )
    drawn = ((who, does, [row(token) for token in result.tokens]) for who, does, row in rows)
    said = "The text, what the generator sees of it and writes, and the discriminator's P(replaced) of each token"
    return aligned(said, drawn)


def _original(token: JudgedToken) -> Chip:
    # `joined` of a replaced token is about what was written in its place.
    joined = token.original.startswith("##") if token.is_replaced else token.joined
    return chip(token.was, f"{token.original}, position {token.position}", joined=joined)


def _seen(token: JudgedToken) -> Chip:
    stood = _original(token)
    if not token.chosen:
        return stood
    told = f"position {token.position}: masked, so the generator has to guess"
    return chip("[MASK]", told, "mask", joined=stood["joined"])


def _written(token: JudgedToken) -> Chip:
    if token.guessed:
        style, told, below = "guessed", GUESSED, "★"
    elif token.chosen:
        style, told, below = "differs", f"in place of {token.was}", ""
    else:
        style, told, below = "plain", "as it was", ""
    title = f"{token.shown}, position {token.position}: {told}"
    return chip(token.text, title, style, joined=token.joined, below=below)


def _judgement(token: JudgedToken) -> Chip:
    title = f"{token.shown}, position {token.position}: {NAMES[token.verdict]}"
    return chip(_whole(token.probability), title, token.verdict, below=OUTCOMES[token.verdict])


def hand_chips(result: ReplacedResult) -> dict[str, Any]:
    """Return the text as the discriminator sees it; below each token its probability, and what stood there."""
    row = []
    for token in result.tokens:
        stood = token.was if token.is_replaced else ""
        title = f"{token.shown}, position {token.position}: {NAMES[token.verdict]}" + (
            f", was {stood}" if stood else ""
        )
        below = _whole(token.probability) + (f" · {stood}" if stood else "")
        row.append(chip(token.text, title, token.verdict, joined=token.joined, below=below))
    return chips("Tokens as the discriminator sees them, with the probability that each was replaced", row)


def _whole(share: float) -> str:
    """Write a whole percentage, so that many tokens stand in a row; what is not quite certain isn't shown as certain."""
    return "<1%" if share < 0.01 else ">99%" if share > 0.99 else f"{100 * share:.0f}%"
