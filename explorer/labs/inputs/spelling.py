"""What a vocabulary's spelling stands for: bytes written as letters, and marks for a space or for the middle of a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

BYTE_PIECE = re.compile(r"<0x([0-9A-F]{2})>")


@cache
def byte_of_letter() -> dict[str, int]:
    """Return the byte behind each letter of a byte-level vocabulary.

    Printable bytes stand for themselves; the others take the letters from U+0100 on, so that a space is Ġ (Radford et
    al. 2019; `bytes_to_unicode` in GPT-2's code).
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + number): byte for number, byte in enumerate(others)}


def bytes_of(piece: str) -> bytes | None:
    """Return the bytes that a byte-level piece is made of; None if a letter stands for no byte."""
    known = byte_of_letter()
    return bytes(known[letter] for letter in piece) if all(letter in known for letter in piece) else None


def readable(piece: str, byte_level: bool) -> str:
    """Return the piece as a visitor can read it: Ġ stays, letters beyond ASCII are decoded, parts of a letter are hex
    bytes.
    """
    raw = bytes_of(piece) if byte_level else None
    if raw is None or (raw.isascii() and piece.isprintable()):
        return piece
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return " ".join(f"{byte:02X}" for byte in raw)
    spaced = text.startswith(" ") and "Ġ" + text[1:]
    text = spaced or text
    return text if text.isprintable() else piece


def knows_unknown(description: Mapping[str, Any]) -> bool:
    """Return whether something can become the unknown token; a byte-level vocabulary may name one and never use it."""
    model = description["model"]
    return model.get("unk_token") is not None or model.get("unk_id") is not None
