"""A model's samples at a checkpoint, in plain values: they are kept with its run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """The likeliest tokens for one blank of a text (numbered from 0), the likeliest first.

    written: how a model of the next token continues the text.
    """

    step: int
    text: str
    blank: int
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]
    written: str = ""
