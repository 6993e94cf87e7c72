"""What goes into the job that asks a run for an answer in a text, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Name, Sentence
from explorer.params import Shown, params
from explorer.runs.examples import ANSWERS, ASKED, READ

MOST_SPANS = 5


@params
class AnswerParams:
    """A question, and the text that may hold its answer."""

    run: Annotated[str, Name(missing="Choose a run first: start one on the Train tab.")] = ANSWERS
    question: Annotated[
        str, Sentence("The question is empty. Type one, or pick an example."), Shown("Question", lines=(1, 3))
    ] = ASKED
    text: Annotated[str, Sentence("The text is empty. Paste a paragraph."), Shown("Text", lines=(6, 14))] = READ


@dataclass(frozen=True)
class SpanToken:
    """One token of the text. position: in the row, from 0. joined: it goes on with the word before."""

    position: int
    text: str
    joined: bool


@dataclass(frozen=True)
class Span:
    """Characters of the text from one token to another, by their positions; probability: P(start) · P(end)."""

    text: str
    first: int
    last: int
    probability: float


@dataclass(frozen=True)
class SpanAnswer:
    """What one model says. start, end: each token's probability, in the order of AnswerResult.tokens.

    nothing: those of the row's first token, which stands for no answer. spans: the likeliest, the best one first.
    """

    name: str
    start: tuple[float, ...]
    end: tuple[float, ...]
    nothing: tuple[float, float]
    spans: tuple[Span, ...]

    @property
    def null(self) -> float:
        """The probability of no answer, as a span's is counted."""
        return self.nothing[0] * self.nothing[1]

    @property
    def said(self) -> Span | None:
        """The best span; None where no answer is likelier."""
        return self.spans[0] if self.spans and self.spans[0].probability >= self.null else None


@dataclass(frozen=True)
class AnswerResult:
    """base: the same network with the head it started from; adapted: after the run."""

    run_id: str
    question: str
    tokens: tuple[SpanToken, ...]
    base: SpanAnswer
    adapted: SpanAnswer
