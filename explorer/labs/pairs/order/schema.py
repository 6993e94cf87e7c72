"""Parameters and results of the jobs on sentence order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.kinds import Sentence
from explorer.labs.pairs.schema import FIRST, MOST_SENTENCES, SECOND, of_sentences
from explorer.params import Shown, params

CLASSES = ("in_order", "swapped")
"""AlbertForPreTraining's two classes, in the order of its logits."""

KINDS = ("true", "swapped", "random")
"""A sentence and the next one; the same two the other way round; a sentence and one of another text."""


@params
class OrderParams:
    """Two texts; the question is whether they stand in the order in which they were written."""

    first: Annotated[str, FIRST, Shown("First", lines=(1, 4))]
    second: Annotated[str, SECOND, Shown("Second", lines=(1, 4))]


@dataclass(frozen=True)
class OrderResult:
    """The [CLS] head's two logits and their softmax, in the order of CLASSES."""

    model: str
    logits: tuple[float, float]
    probabilities: tuple[float, float]


def _counted(said: str, least: int) -> AfterValidator:
    """Check how many sentences a text has; `said` names it."""
    few = f"{said} has one sentence. Type at least two, each ended by a full stop."
    return of_sentences(least, few, f"{said} has {{count}} sentences: take at most {MOST_SENTENCES}.")


TYPE_SOME = "is empty. Type some sentences, each ended by a full stop."


@params
class KindsParams:
    """A short text whose sentences follow each other, and another one that has nothing to do with it."""

    text: Annotated[
        str,
        Sentence(f"The text {TYPE_SOME}"),
        _counted("The text", 2),
        Shown("A text: its neighbours are the true pairs", lines=(5, 9)),
    ]
    other_text: Annotated[
        str,
        Sentence(f"The other text {TYPE_SOME}"),
        _counted("The other text", 1),
        Shown("Another text, for the random pairs", lines=(4, 8)),
    ]


@dataclass(frozen=True)
class ScoredPair:
    """One pair of one kind. probability: of the head's first class, is_next or in_order."""

    kind: str
    first: str
    second: str
    probability: float


@dataclass(frozen=True)
class KindsResult:
    """Every pair with its score by one model. head: NSP or SOP."""

    model: str
    head: str
    pairs: tuple[ScoredPair, ...]

    def of(self, kind: str) -> tuple[ScoredPair, ...]:
        """Return the pairs of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)

    def accepted(self, kind: str) -> float:
        """Return the share of a kind's pairs in which the first class leads."""
        return sum(pair.probability >= 0.5 for pair in self.of(kind)) / max(1, len(self.of(kind)))
