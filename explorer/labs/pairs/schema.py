"""Parameters and results of the jobs on sentence pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Sentence
from explorer.params import Shown, Text, params
from explorer.text import checked_text, split_sentences

CLASSES = ("is_next", "not_next")
"""BertForPreTraining's two classes, in the order of its logits."""

MOST_SENTENCES = 12


FIRST = Sentence("The first sentence is empty. Type one, or pick an example.")
SECOND = Sentence("The second sentence is empty. Type one, or pick an example.")


@params
class PairParams:
    """Two texts; the question is whether the second follows the first."""

    sentence_a: Annotated[str, FIRST, Shown("First sentence", lines=(1, 5))]
    sentence_b: Annotated[str, SECOND, Shown("Second sentence", lines=(1, 5))]


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


def losses_of(logits: tuple[float, float]) -> tuple[float, float]:
    """Return -ln of each class's softmax, in nats: the cross-entropy if that class is the true one, finite however sure
    the head.
    """
    highest = max(logits)  # taken off first: exp of a large logit overflows
    total = highest + math.log(sum(math.exp(logit - highest) for logit in logits))
    return total - logits[0], total - logits[1]


def of_sentences(least: int, few: str, many: str) -> AfterValidator:
    """Return a check of how many sentences a text has; `few` and `many` are its errors, {count} the number in the
    latter.
    """

    def check(text: str) -> str:
        count = len(split_sentences(checked_text(text)))
        if not least <= count <= MOST_SENTENCES:
            raise BadInputError(few if count < least else many.format(count=count))
        return text

    return AfterValidator(check)


SEVERAL = of_sentences(
    2,
    "This is one sentence. Type at least two, each ended by a full stop.",
    f"This text has {{count}} sentences, and every pair is scored: take at most {MOST_SENTENCES}.",
)


@params
class AllPairsParams:
    """A short text; it is split into sentences."""

    text: Annotated[Text, SEVERAL, Shown(f"A short text, 2 to {MOST_SENTENCES} sentences", lines=(6, 12))]


@dataclass(frozen=True)
class AllPairsResult:
    """probabilities[i][j] is P(sentence j follows sentence i); None on the diagonal."""

    model: str
    sentences: tuple[str, ...]
    probabilities: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class OrderResult:
    """The [CLS] head's two logits and their softmax, in the order of `order.CLASSES`."""

    model: str
    logits: tuple[float, float]
    probabilities: tuple[float, float]
