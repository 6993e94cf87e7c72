"""What is timed, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Names, Whole
from explorer.models.spent import Ratio, Spent
from explorer.params import Shown, params

BATCHES = (1, 8, 32)
ROUNDS = 40
"""Rounds that the page asks for: of fewer the intervals are wide."""


@params
class LatencyParams:
    """A forward pass by several methods (all that the model can have, where none is named), `repeats` rounds of all in turns."""

    methods: Annotated[tuple[str, ...], Names()] = ()
    batch: Annotated[int, Whole(1, 64), Shown("Texts in a batch", choices=tuple((str(n), n) for n in BATCHES))] = 1
    length: Annotated[int, Whole(2, 512), Shown("Tokens a text", slider=(8, 256, 8))] = 64
    repeats: Annotated[int, Whole(2, 100), Shown("Rounds", slider=(5, 50))] = 10


@dataclass(frozen=True)
class Timed:
    """A method in one form: `attached`, `merged`, or `plain`, where it adds nothing to what a forward pass computes.

    added: parameters more than the plain model has. ratio: its time as a multiple of the plain model's, round by round.
    """

    method: str
    title: str
    form: str
    added: int
    spent: Spent
    ratio: Ratio


@dataclass(frozen=True)
class LatencyResult:
    """The plain model's times, and each method's. missing: (method, why it cannot be had or timed here). device: of the model."""

    model_id: str
    device: str
    batch: int
    length: int
    rounds: int
    plain: Spent
    timed: tuple[Timed, ...]
    missing: tuple[tuple[str, str], ...] = ()
