"""Which sentence is taken apart, and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Whole
from explorer.labs.generation.scores.schema import MOST_GROUPS, ScoreParams
from explorer.params import Shown, params
from explorer.tasks.generation_metrics import Apart


@params
class PartsParams(ScoreParams):
    """The same texts, and the number of one hypothesis, from 1."""

    sentence: Annotated[int, Whole(1, MOST_GROUPS), Shown("Hypothesis number", slider=(1, 5))] = 1


@dataclass(frozen=True)
class Parts:
    """The five metrics of one sentence (number from 1) of so many."""

    apart: Apart
    sentence: int
    sentences: int
