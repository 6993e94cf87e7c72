"""What a model says at a checkpoint, in plain values: it is kept with its run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Said:
    """The likeliest tokens for one blank of a text, from 0, the likeliest first.

    written: how a model of the next token goes on.
    """

    step: int
    text: str
    blank: int
    tokens: tuple[str, ...]
    probabilities: tuple[float, ...]
    written: str = ""
