"""What goes into the scores of the minimal pairs and what comes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Name
from explorer.labs.masking.minimal.examples import KINDS, PAIRS
from explorer.labs.masking.score.schema import Masking, ScoredSentence
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import params


@params
class MinimalPairsParams:
    """The bundled minimal pairs. masking: what is hidden with a token, as in ScoreParams."""

    model: Annotated[str, Name()] = DEFAULT_MODEL
    masking: Masking = "rest_of_word"


@dataclass(frozen=True)
class ScoredPair:
    """One minimal pair: number is its place in PAIRS."""

    number: int
    better: ScoredSentence
    worse: ScoredSentence

    @property
    def kind(self) -> str:
        """agreement, word order or sense."""
        return PAIRS[self.number].kind

    @property
    def label(self) -> str:
        """What is changed, in a word or two."""
        return PAIRS[self.number].label

    @property
    def difference(self) -> float:
        """The better sentence's score minus the other's: above 0 where the model ranks the two right."""
        return self.better.total - self.worse.total


@dataclass(frozen=True)
class MinimalPairsResult:
    """The pairs that are scored so far."""

    model: str
    causal: bool
    pairs: tuple[ScoredPair, ...]

    def of(self, kind: str) -> tuple[ScoredPair, ...]:
        """Those of one kind."""
        return tuple(pair for pair in self.pairs if pair.kind == kind)

    def right(self, kind: str = "") -> int:
        """How many are ranked right, of one kind or of all."""
        kinds = (kind,) if kind else KINDS
        return sum(pair.difference > 0 for pair in self.pairs if pair.kind in kinds)

    @property
    def is_done(self) -> bool:
        """Whether all are scored."""
        return len(self.pairs) == len(PAIRS)
