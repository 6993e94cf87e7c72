"""Parameters and results of sentences' pseudo-log-likelihoods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Annotated, Any

from explorer.errors import BadInputError
from explorer.kinds import Name, OneOf, Read, parse_lines
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Shown, params
from explorer.text import MASK_SPELLINGS, checked_text

MOST_SENTENCES = 8
MOST_TOKENS = 64
"""Of one sentence: each is a row of a batch."""

OPENING = ("The keys to the cabinet are on the table.", "The keys to the cabinet is on the table.")

LEFT_TO_RIGHT = "gpt2-mini"
"""The bundled model with a true log-likelihood."""


def _sentences(given: Any) -> tuple[str, ...]:
    sentences = parse_lines(given)
    if not sentences:
        raise BadInputError("Type a sentence first, or pick one of the examples.")
    if len(sentences) > MOST_SENTENCES:
        raise BadInputError(f"These are {len(sentences):,} sentences, and at most {MOST_SENTENCES} are scored at once.")
    for number, sentence in enumerate(sentences, start=1):
        if MASK_SPELLINGS.search(sentence):
            raise BadInputError(f"Sentence {number} has a blank, and a blank has no score: write a word in its place.")
    return tuple(map(checked_text, sentences))


Masking = Annotated[
    str,
    OneOf(("rest_of_word", "token"), ("it and the rest of its word", "it alone")),
    Shown("To score a token, hide", "Makes a difference in words of several pieces."),
]


@params
class ScoreParams:
    """Sentences whose tokens are masked in turn.

    masking: what is hidden with a token. By default also the pieces that follow in its word (Kauf and Ivanova 2023): while they
    stand there they give it away, and a rare word of many pieces scores as if it were a common one. `token` is Salazar et al.'s
    (2020) score.
    """

    model: Annotated[str, Name()] = DEFAULT_MODEL
    sentences: Annotated[
        tuple[str, ...] | str,
        Read(_sentences),
        Shown(f"Sentences, one a line (at most {MOST_SENTENCES})", "Two are set side by side.", lines=(3, 8)),
    ] = OPENING
    """As a list, or as a text with one a line."""

    masking: Masking = "rest_of_word"
    beside: Annotated[str, Name(optional=True)] = LEFT_TO_RIGHT
    """A model that reads from the left, whose true log-likelihood stands beside a masked model's score; empty for none."""


@dataclass(frozen=True)
class ScoredToken:
    """One token. log_probability: ln p given all other tokens, or those before it. unknown: not in the vocabulary."""

    position: int
    text: str
    shown: str
    joined: bool
    log_probability: float
    unknown: bool = False


@dataclass(frozen=True)
class ScoredSentence:
    """A sentence with its tokens' scores, in nats."""

    sentence: str
    tokens: tuple[ScoredToken, ...]

    @property
    def total(self) -> float:
        """The (pseudo-)log-likelihood."""
        return math.fsum(token.log_probability for token in self.tokens)

    @property
    def per_token(self) -> float:
        """The mean, by which sentences of several lengths compare."""
        return self.total / len(self.tokens)

    @property
    def perplexity(self) -> float:
        """exp of minus the mean."""
        return math.exp(-self.per_token)


@dataclass(frozen=True)
class Scores:
    """Every sentence by one model. causal: it reads from the left, and the sums are true log-likelihoods."""

    model: str
    causal: bool
    sentences: tuple[ScoredSentence, ...]


@dataclass(frozen=True)
class ScoreResult:
    """The chosen model's scores, and another model's beside them."""

    own: Scores
    beside: Scores | None = None


Aligned = tuple[ScoredToken | None, ScoredToken | None]


def aligned(first: ScoredSentence, second: ScoredSentence) -> tuple[Aligned, ...]:
    """Align the tokens of two sentences in rows: equal ones beside each other, others as far as both go, the rest with
    None.
    """
    left, right = first.tokens, second.tokens
    # difflib's autojunk would skip frequent tokens.
    matcher = SequenceMatcher(None, [token.text for token in left], [token.text for token in right], autojunk=False)
    rows: list[Aligned] = []
    for _, start, stop, other_start, other_stop in matcher.get_opcodes():
        rows += zip_longest(left[start:stop], right[other_start:other_stop])
    return tuple(rows)


def differences(rows: tuple[Aligned, ...]) -> tuple[float, ...]:
    """Return what each row adds to the first sentence's score minus the second's; a token that stands alone counts
    whole.
    """
    return tuple(
        (first.log_probability if first else 0.0) - (second.log_probability if second else 0.0)
        for first, second in rows
    )
