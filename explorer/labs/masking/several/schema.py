"""What goes into the filling of several blanks and what comes out: plain data, no model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Sentence, Whole
from explorer.labs.masking.several.examples import OPENING
from explorer.params import Shown, params

FEWEST, MOST = 2, 12
"""Blanks."""

ORDERS = ("each alone", "left to right", "surest first", "in steps")
"""All from one look; one after another, each seeing those before; the same, the surest blank next; all at once, and again
where the model was least sure (Ghazvininejad et al. 2019)."""


@params
class SeveralParams:
    """A text with several blanks. steps: how often the last of the ORDERS looks."""

    text: Annotated[
        str, Sentence(), Shown(f"A text with {FEWEST} to {MOST} blanks", "Type [MASK] for each.", lines=(2, 5))
    ] = OPENING[0]
    steps: Annotated[int, Whole(1, MOST), Shown("Steps (for “in steps”)", slider=(1, MOST))] = OPENING[1]


@dataclass(frozen=True)
class FillingStep:
    """What stands in each blank after one step, None where still nothing does, and its probability when it was put there.

    fresh: which blanks this step filled.
    """

    tokens: tuple[str | None, ...]
    probabilities: tuple[float | None, ...]
    fresh: tuple[bool, ...]


@dataclass(frozen=True)
class Filling:
    """One way to fill the blanks. joint: ln p of all its tokens together, by the chain rule from left to right."""

    order: str
    steps: tuple[FillingStep, ...]
    joint: float

    @property
    def last(self) -> FillingStep:
        """When all blanks are filled."""
        return self.steps[-1]

    @property
    def as_chosen(self) -> float:
        """The sum of ln p of each token when it was put in: a joint probability only where each saw those before it."""
        return math.fsum(math.log(max(share, 1e-45)) for share in self.last.probabilities if share is not None)


@dataclass(frozen=True)
class SeveralResult:
    """The four fillings. positions: of the blanks."""

    model: str
    positions: tuple[int, ...]
    fillings: tuple[Filling, ...]

    @property
    def best(self) -> Filling:
        """The one whose tokens are likeliest together."""
        return max(self.fillings, key=lambda filling: filling.joint)
