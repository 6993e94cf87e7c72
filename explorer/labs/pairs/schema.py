"""What goes into the sentence-pair lab's jobs and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.text import checked_text, split_sentences

CLASSES = ("is_next", "not_next")
"""BertForPreTraining's two classes, in the order of its logits."""

MOST_SENTENCES = 12


def check_two(first: object, second: object) -> None:
    """Raise BadInputError where one of two texts is empty or too long to look at."""
    for text, place in ((first, "first"), (second, "second")):
        if not isinstance(text, str) or not text.strip():
            raise BadInputError(f"The {place} sentence is empty. Type one, or pick an example.")
        checked_text(text)


@dataclass(frozen=True)
class PairParams:
    """Two texts; the question is whether the second follows the first."""

    sentence_a: str
    sentence_b: str

    def __post_init__(self) -> None:
        """Raise BadInputError where one of the two is empty or too long to look at."""
        check_two(self.sentence_a, self.sentence_b)


@dataclass(frozen=True)
class PairToken:
    """One position of the input: BERT adds up its token, segment and position embeddings."""

    position: int
    text: str
    shown: str
    joined: bool
    segment: int
    special: bool


@dataclass(frozen=True)
class PairResult:
    """The [CLS] head's two logits and their softmax, in the order of CLASSES."""

    model: str
    tokens: tuple[PairToken, ...]
    logits: tuple[float, float]
    probabilities: tuple[float, float]


@dataclass(frozen=True)
class AllPairsParams:
    """A short text; it is split into sentences."""

    text: str

    def __post_init__(self) -> None:
        """Raise BadInputError unless the text has between two sentences and the most."""
        count = len(split_sentences(checked_text(self.text)))
        if count < 2:
            raise BadInputError("This is one sentence. Type at least two, each ended by a full stop.")
        if count > MOST_SENTENCES:
            raise BadInputError(
                f"This text has {count} sentences, and every pair is scored: take at most {MOST_SENTENCES}."
            )


@dataclass(frozen=True)
class AllPairsResult:
    """probabilities[i][j] is P(sentence j follows sentence i); None on the diagonal."""

    model: str
    sentences: tuple[str, ...]
    probabilities: tuple[tuple[float | None, ...], ...]
