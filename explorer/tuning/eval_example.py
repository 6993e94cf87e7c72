"""A held-out example whose answer is a text: the question, the right answers, and the model's own."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Judged:
    """A judged answer. asked: a meaning or a question. context: the text that the answer stands in. right: references
    or accepted answers. said: the model's answer.

    score: of this one answer by the leading metric, in [0, 1]; None if the metric has no value for a single answer.
    """

    asked: str
    context: str | None
    right: tuple[str, ...]
    said: str
    score: float | None = None
