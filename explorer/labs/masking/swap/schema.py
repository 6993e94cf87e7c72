"""What goes into the comparison of one blank in two sentences and what comes out: plain data, no model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Name, Sentence, Whole
from explorer.labs.masking.swap.examples import OPENING
from explorer.params import Shown, params


@params
class SwapParams:
    """A sentence with one blank, and the word of it that is changed."""

    text: Annotated[str, Sentence(), Shown("A sentence with a blank", "Type [MASK] for it.", lines=(2, 4))] = OPENING[0]
    word: Annotated[str, Name("Write the word that is changed."), Shown("A word of it", lines=(1, 1))] = OPENING[1]
    other: Annotated[str, Name("Write the word that takes its place."), Shown("changed to", lines=(1, 1))] = OPENING[2]
    top_k: Annotated[int, Whole(1, 20), Shown("Best of each", slider=(1, 20))] = 6


@dataclass(frozen=True)
class SwappedToken:
    """One token of the vocabulary: its probability in the blank with the word and with the other one."""

    token: str
    before: float
    after: float

    @property
    def log_ratio(self) -> float:
        """ln of how many times likelier it has become."""
        return math.log(max(self.after, 1e-45) / max(self.before, 1e-45))


@dataclass(frozen=True)
class SwapResult:
    """tokens: the best of either sentence, the likeliest of all first. moved: half the sum of |p - q| over the vocabulary, the
    share of the probability that went to other tokens."""

    model: str
    word: str
    other: str
    tokens: tuple[SwappedToken, ...]
    moved: float
