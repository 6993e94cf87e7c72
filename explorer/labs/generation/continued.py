"""Parameters and results of a text that is continued, and of its next token; what the tab opens with and offers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from explorer.errors import BadInputError
from explorer.kinds import Name, Names, Number, OneOf, Read, Whole
from explorer.models.catalog import DEFAULT_MODEL, bundled_with
from explorer.models.families import Capability
from explorer.params import Seed, Shown, Text, params

TEXT = "In 1994 the band released its first album,"
TOKENS = 24
SEED = 0

EVERYTHING = ("greedy", "beam", "top_k", "top_p", "temperature")


def _asked(text: str = TEXT, decoding: tuple[str, ...] = EVERYTHING, **changes: Any) -> dict[str, Any]:
    usual = {"tokens": TOKENS, "k": 40, "p": 0.9, "temperature": 0.7}
    return {"text": text, "decoding": list(decoding), **usual, **changes}


TRY = {
    "Wait for the loop": _asked("The king of Spain was born in", ("greedy", "beam"), tokens=60),
    "Too hot": _asked("The recipe takes flour, water and", ("top_p", "temperature"), temperature=1.8, tokens=30),
    "A small k, a small p": _asked(decoding=("greedy", "top_k", "top_p"), k=1, p=0.05),
}
"""One-click experiments."""


WRITER = next(iter(bundled_with(Capability.CAUSAL)), DEFAULT_MODEL)
"""Which model writes where the chosen one can't."""

DECODINGS = {
    "greedy": "greedy",
    "beam": "beam search",
    "top_k": "top-k",
    "top_p": "top-p",
    "temperature": "temperature",
}
"""Each decoding with its title."""

MOST_TOKENS = 60
MOST_BEAMS = 8
LONGEST_BRANCH = 2000
"""Tokens; more than the models read."""

TOP = 15
"""Tokens of a distribution that are told by name."""

DISTINCT = 0.8
"""Below this share of different bigrams a continuation is said to repeat itself."""


def _decodings(value: Any) -> tuple[str, ...]:
    names = Names().read(value, "decoding")
    for name in names:
        if name not in DECODINGS:
            raise BadInputError(f"decoding must be some of {', '.join(DECODINGS)}; got {name[:40]!r}.")
    if not names:
        raise BadInputError("Choose at least one decoding.")
    return tuple(name for name in DECODINGS if name in names)  # in the page's order, each once


def _ids(value: Any) -> tuple[int, ...]:
    """Read token ids from a list, or from a text with spaces or commas."""
    if isinstance(value, str):
        value = [entry for entry in re.split(r"[\s,\[\]()]+", value) if entry]
    value = () if value is None else value
    if not isinstance(value, list | tuple) or len(value) > LONGEST_BRANCH:
        raise BadInputError("branch takes token ids, such as [262, 3965], or nothing.")
    return tuple(Whole(0).read(one, "branch") for one in value)


Writer = Annotated[str, Name(missing=f"Choose a model that continues a text, such as {WRITER}.")]
StartText = Annotated[Text, Shown("Text to continue", lines=(2, 4))]
Branch = Annotated[tuple[int, ...], Read(_ids), Shown("branch")]
"""Ids of tokens that follow the text: chosen by hand, and the same for every decoding."""

K = Annotated[int, Whole(1, 1000), Shown("k of top-k", slider=(1, 100))]
P = Annotated[float, Number(0, 1, above=True), Shown("p of top-p", slider=(0.05, 1, 0.05))]
Decodings = Annotated[
    tuple[str, ...],
    Read(_decodings),
    Shown("Decodings", choices=tuple((title, name) for name, title in DECODINGS.items())),
]
Tokens = Annotated[int, Whole(1, MOST_TOKENS), Shown("New tokens", slider=(10, MOST_TOKENS))]
Beams = Annotated[int, Whole(1, MOST_BEAMS), Shown("Beams", slider=(1, MOST_BEAMS))]
Temperature = Annotated[float, Number(0, 10), Shown("Temperature T", slider=(0.1, 2, 0.1))]


@params
class ContinueParams:
    """A text, how its continuation is chosen, and how far it goes. tokens: new ones a row. beams: of beam search.

    Each decoding has its own parameter: top-k and top-p sample at T = 1, `temperature` samples from the whole vocabulary.
    """

    model: Writer = WRITER
    text: StartText = TEXT
    decoding: Decodings = EVERYTHING
    tokens: Tokens = TOKENS
    seed: Seed = 0
    k: K = 40
    p: P = 0.9
    temperature: Temperature = 0.7
    beams: Beams = 4
    branch: Branch = ()


@params
class NextParams:
    """A place in a text, and the decoding that chooses there. chosen: the id of the token that was written, where one was."""

    model: Writer = WRITER
    text: StartText = TEXT
    branch: Branch = ()
    decoding: Annotated[str, OneOf(tuple(DECODINGS), tuple(DECODINGS.values())), Shown("Decoding")] = "top_p"
    k: K = 40
    p: P = 0.9
    temperature: Temperature = 0.7
    chosen: Annotated[int | None, Whole(0, optional=True), Shown("chosen")] = None


@dataclass(frozen=True)
class Written:
    """One token of a continuation. text: as it looks in the sentence; joined: it goes on with the word before.

    log_probability: the model's own ln p, whatever the decoding made of it. rank: from 1. by_hand: it is of the branch.
    """

    token_id: int
    text: str
    joined: bool
    log_probability: float
    rank: int
    by_hand: bool = False

    @property
    def probability(self) -> float:
        """The model's own probability."""
        return math.exp(self.log_probability)


@dataclass(frozen=True)
class Row:
    """One decoding's continuation so far, the branch first. ended: the model wrote its end-of-text token, of this ln p.

    Of beam search it is the best of the beams, which may be another one a step later.
    """

    decoding: str
    tokens: tuple[Written, ...]
    ended: float | None = None

    @property
    def own(self) -> tuple[Written, ...]:
        """The tokens without the branch."""
        return tuple(token for token in self.tokens if not token.by_hand)

    @property
    def score(self) -> float:
        """The sum of ln p of its own tokens, end-of-text included."""
        return math.fsum(token.log_probability for token in self.own) + (self.ended or 0.0)

    @property
    def surprisal(self) -> float | None:
        """The mean -ln p a token, in nats; None if there is no token."""
        count = len(self.own) + (self.ended is not None)
        return -self.score / count if count else None

    @property
    def distinct(self) -> float | None:
        """How many of its bigrams are different ones, as a share; None if there are none."""
        ids = [token.token_id for token in self.tokens]
        pairs = list(pairwise(ids))
        return len(set(pairs)) / len(pairs) if pairs else None

    @property
    def repeats_itself(self) -> bool:
        """Whether fewer than DISTINCT of its bigrams are different ones."""
        return self.distinct is not None and self.distinct < DISTINCT

    @property
    def refrain(self) -> tuple[tuple[Written, ...], int]:
        """The longest piece that it writes again, taken down to what goes round in it, and how often that is written."""
        ids = [token.token_id for token in self.tokens]
        first, length = longest_repeat(ids)
        length = period(ids[first : first + length])
        piece = ids[first : first + length]
        times, place = 0, 0
        while piece and place + length <= len(ids):
            found = ids[place : place + length] == piece
            # After a find it goes on behind it: no overlap.
            times, place = times + found, place + (length if found else 1)
        return self.tokens[first : first + length], times


def longest_repeat(ids: Sequence[int]) -> tuple[int, int]:
    """Return where the longest piece begins that occurs again later, without overlap, and its length; (0, 0) if none
    does.
    """
    best, first, count = 0, 0, len(ids)
    for start in range(count):
        for later in range(start + best + 1, count - best):  # no later start has room for a longer one
            length = 0
            while later + length < count and start + length < later and ids[start + length] == ids[later + length]:
                length += 1
            if length > best:
                best, first = length, start
    return first, best


def period(ids: Sequence[int]) -> int:
    """Return after how many tokens a piece begins anew, if it does so one and a half times or more; else its length."""
    count = len(ids)
    return next((step for step in range(1, 2 * count // 3 + 1) if all(map(int.__eq__, ids, ids[step:]))), count)


@dataclass(frozen=True)
class Candidate:
    """A token that may come next. tempered: its probability at the temperature. allowed: by the decoding."""

    rank: int
    token_id: int
    text: str
    joined: bool
    probability: float
    tempered: float
    in_top_k: bool
    in_top_p: bool
    allowed: bool


@dataclass(frozen=True)
class NextResult:
    """The distribution of one next token.

    context: the last words before it. branch: the ids after the text that lead there. entropy: in nats. top_k, top_p: how many
    tokens each keeps, and which mass they hold. ranks, mass, tempered_mass: the mass of the likeliest tokens, at some ranks, at
    T = 1 and at the temperature. written: the one that was chosen, None where none was.
    """

    model: str
    text: str
    context: str
    branch: tuple[int, ...]
    decoding: str
    k: int
    p: float
    temperature: float
    vocabulary: int
    entropy: float
    top: tuple[Candidate, ...]
    top_k: tuple[int, float]
    top_p: tuple[int, float]
    ranks: tuple[int, ...]
    mass: tuple[float, ...]
    tempered_mass: tuple[float, ...]
    written: Candidate | None = None


@dataclass(frozen=True)
class ContinueResult:
    """The rows so far. of: how many own tokens each is to have; room: how many the model has room for, where that is fewer.

    done: whether no more come. next: the distribution at the latest step of the first row that samples; at the end the first.
    """

    model: str
    asked: ContinueParams
    text: str
    rows: tuple[Row, ...]
    steps: int
    of: int
    room: int | None
    done: bool
    next: NextResult
