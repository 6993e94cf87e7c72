"""Tells the kind of tokenizer that a tokenizer.json describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_byte_level(description: Mapping[str, Any]) -> bool:
    """Return whether a tokenizer turns its text into bytes before it cuts."""
    return any(_holds(description.get(stage), "ByteLevel") for stage in ("normalizer", "pre_tokenizer"))


def kind_of(description: Mapping[str, Any]) -> str:
    """Return the method's name: WordPiece, byte-level BPE, SentencePiece BPE, SentencePiece unigram and the like."""
    method = str(description["model"]["type"])
    if is_byte_level(description):
        return f"byte-level {method}"
    if method in ("BPE", "Unigram"):
        # Metaspace writes a space as ▁, as SentencePiece does.
        pieces = any(_holds(description.get(stage), "Metaspace") for stage in ("pre_tokenizer", "decoder"))
        return ("SentencePiece " if pieces else "") + ("BPE" if method == "BPE" else "unigram")
    return method


def _holds(stage: Any, kind: str) -> bool:
    """Return whether a stage of the pipeline, or one inside it, is of a kind."""
    if not isinstance(stage, dict):
        return False
    inside = [*stage.get("normalizers", ()), *stage.get("pretokenizers", ()), *stage.get("decoders", ())]
    return stage.get("type") == kind or any(_holds(part, kind) for part in inside)
