"""What goes into the jobs on sentence order and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.labs.pairs.schema import MOST_SENTENCES, check_two
from explorer.text import checked_text, split_sentences

CLASSES = ("in_order", "swapped")
"""AlbertForPreTraining's two classes, in the order of its logits."""

KINDS = ("true", "swapped", "random")
"""A sentence and the next one; the same two the other way round; a sentence and one of another text."""


@dataclass(frozen=True)
class OrderParams:
    """Two texts; the question is whether they stand in the order in which they were written."""

    first: str
    second: str

    def __post_init__(self) -> None:
        """Raise BadInputError where one of the two is empty or too long to look at."""
        check_two(self.first, self.second)


@dataclass(frozen=True)
class OrderResult:
    """The [CLS] head's two logits and their softmax, in the order of CLASSES."""

    model: str
    logits: tuple[float, float]
    probabilities: tuple[float, float]


@dataclass(frozen=True)
class KindsParams:
    """A short text whose sentences follow each other, and another one that has nothing to do with it."""

    text: str
    other_text: str

    def __post_init__(self) -> None:
        """Raise BadInputError unless the first has two sentences and the second one, and neither too many."""
        for name, said, least in (("text", "The text", 2), ("other_text", "The other text", 1)):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip():
                raise BadInputError(f"{said} is empty. Type some sentences, each ended by a full stop.")
            count = len(split_sentences(checked_text(text)))
            if count < least:
                raise BadInputError(f"{said} has one sentence. Type at least two, each ended by a full stop.")
            if count > MOST_SENTENCES:
                raise BadInputError(f"{said} has {count} sentences: take at most {MOST_SENTENCES}.")


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
        """The pairs of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)

    def accepted(self, kind: str) -> float:
        """The share of a kind's pairs in which the first class leads."""
        return sum(pair.probability >= 0.5 for pair in self.of(kind)) / max(1, len(self.of(kind)))
