"""A held-out example whose answer is a text: what was asked, what is right, and what the model said."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """asked: a meaning or a question. context: what the answer stands in. right: references or accepted answers.

    score: of this one answer by the leading metric, in [0, 1], where that can be told of one.
    """

    asked: str
    context: str | None
    right: tuple[str, ...]
    said: str
    score: float | None = None
