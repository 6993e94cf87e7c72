"""Plain-string helpers that need no model."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from explorer.errors import BadInputError

_BOUNDARY = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"')\]”’]))"
    r"(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bProf\.)(?<!\bGen\.)(?<!\bSt\.)(?<!\b[A-Z]\.)"
    r"(?!(?<=\bNo\.)\s+\d)\s+(?=[\"'(\[“‘]?[A-Z0-9])"
)


def split_sentences(text: str) -> list[str]:
    """Split English text after `.`, `!` or `?` before a capital or digit, but not after an initial or a title."""
    return [sentence.strip() for sentence in _BOUNDARY.split(text) if sentence.strip()]


MASK_SPELLINGS = re.compile(r"\[MASK\]|<mask>")
"""Matches a blank as visitors write it, whatever the model calls its mask."""


def up_to_blank(text: str, second: str = "") -> tuple[str, str]:
    """Return a text, or a pair, as a model that only continues a text reads it: nothing from the first blank on."""
    if blank := MASK_SPELLINGS.search(text):
        return text[: blank.start()].rstrip(), ""
    blank = MASK_SPELLINGS.search(second)
    return text, second[: blank.start()].rstrip() if blank else second


LONGEST_TEXT = 20_000
"""Characters of a text: far more than any model here reads at once, and tokenised in a moment."""


def checked_text(text: object) -> str:
    """Return a visitor's text without control characters. Raises BadInputError if it is empty or too long."""
    if not isinstance(text, str):
        raise BadInputError("Type a sentence first.")
    if len(text) > LONGEST_TEXT:
        raise BadInputError(
            f"This text has {len(text):,} characters, and a page takes at most {LONGEST_TEXT:,}. Paste a paragraph of it."
        )
    cleaned = "".join(" " if _is_control(character) else character for character in text)
    if not cleaned.strip():
        raise BadInputError("Type a sentence first, or pick one of the examples.")
    return cleaned


def _is_control(character: str) -> bool:
    """Return whether a character is a null byte, a line break, a lone surrogate or the like: each makes some tokenizer fail."""
    return unicodedata.category(character) in ("Cc", "Cs")


def encodable(value: Any) -> Any:
    """Replace every lone surrogate in a client's value: what cannot be encoded cannot be sent back or looked up."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [encodable(entry) for entry in value]
    return value
