"""What the attribution lab's jobs are asked, what they answer, and what the page is shown: plain data, no model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from explorer.labs.attribution.methods import BY_SLUG, Method
from explorer.tasks.metrics import METRICS

STEPS = (20, 50, 100, 200, 400)
"""How often the way from the baseline to the text is looked at, until what it adds up to is close enough."""

TOLERANCE = 0.02
"""How far the sum may be from f(x) − f(baseline), as a share of it, before more steps are taken."""

LEAST_TOLERANCE = 0.01
"""The same in log-odds, for a difference that is next to nothing."""


@dataclass(frozen=True)
class AskParams:
    """What is asked about one text, before it is known what the model answers. classes: those of a fine-tuned classifier."""

    text: str
    second: str
    target: str
    baseline: str
    position: int | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fixed:
    """The same once it is known: f is the log-odds of class `target` at position `place` for question `slug`."""

    text: str
    second: str
    slug: str
    place: int
    target: int
    baseline: str


@dataclass(frozen=True)
class TokenView:
    """One position of the input. kept: it is a special token, which the baseline leaves as it is."""

    position: int
    text: str
    shown: str
    joined: bool
    kept: bool
    segment: int


@dataclass(frozen=True)
class Asked:
    """What the model answers, in log-odds: `score` for the text, `baseline_score` for the baseline.

    answer: the target's name. is_top: it is the model's own answer. places: where the same could be asked. baseline: what
    it turned out to be, by its slug; baseline_token: the token, empty for the zero vector. rows: texts that one block of
    work takes at most. depth: layers.
    """

    model: str
    fixed: Fixed
    answer: str
    is_top: bool
    places: tuple[int, ...]
    tokens: tuple[TokenView, ...]
    score: float
    baseline_score: float
    baseline_token: str
    rows: int
    depth: int

    @property
    def change(self) -> float:
        """f(x) − f(baseline): what a complete method shares out."""
        return self.score - self.baseline_score

    @property
    def tolerance(self) -> float:
        """How far a sum may be from it before more steps are taken."""
        return max(TOLERANCE * abs(self.change), LEAST_TOLERANCE)


@dataclass(frozen=True)
class PathParams:
    """The nodes first to last - 1 of a way with `steps` of them; for conductance the stretches of it."""

    fixed: Fixed
    steps: int
    first: int
    last: int


@dataclass(frozen=True)
class GradientParams:
    """A method that needs one gradient: gradient_x_input or saliency."""

    fixed: Fixed
    method: str


@dataclass(frozen=True)
class OccludeParams:
    """Groups of positions, each replaced together."""

    fixed: Fixed
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class RolloutParams:
    """The rollout to the place that is asked."""

    fixed: Fixed


@dataclass(frozen=True)
class Unit:
    """What one number belongs to: a token, or a word with all its positions."""

    positions: tuple[int, ...]
    text: str
    shown: str
    joined: bool
    kept: bool
    segment: int


@dataclass(frozen=True)
class Part:
    """One method's numbers so far, one for each unit; None if it has not come to it.

    layers: for conductance, a row of them for each layer. steps, delta: of the methods that take steps; delta is the sum
    less f(x) − f(baseline), the largest of any layer for conductance.
    """

    method: str
    values: tuple[float | None, ...]
    done: bool = False
    steps: int = 0
    delta: float | None = None
    layers: tuple[tuple[float, ...], ...] = ()

    @property
    def about(self) -> Method:
        """Its entry in METHODS."""
        return BY_SLUG[self.method]

    @property
    def total(self) -> float:
        """What the numbers that there are add up to."""
        return sum(value for value in self.values if value is not None)

    @cached_property
    def strongest(self) -> float:
        """The largest of the numbers that there are, whatever their sign."""
        return max((abs(value) for value in self.values if value is not None), default=0.0)


@dataclass(frozen=True)
class Progress:
    """doing: what is worked on. done, total: forward passes of one text. seconds_left: None until it can be told."""

    doing: str
    done: int
    total: int
    seconds_left: float | None = None


@dataclass(frozen=True)
class AttributionResult:
    """The chosen methods and the rollout on the same units; progress is None once all of it is there."""

    asked: Asked
    by: str
    units: tuple[Unit, ...]
    parts: tuple[Part, ...]
    progress: Progress | None = None

    @property
    def chosen(self) -> tuple[Part, ...]:
        """The methods without the rollout."""
        return tuple(part for part in self.parts if part.method != "rollout")

    @property
    def by_token(self) -> tuple[Part, ...]:
        """The parts with a number for each token, the rollout last."""
        return tuple(part for part in self.parts if not part.about.by_layer)


def units_of(tokens: Sequence[TokenView], by: str) -> tuple[Unit, ...]:
    """Return the tokens themselves, or the words that they make up; special tokens stand alone."""
    groups: list[list[TokenView]] = []
    for token in tokens:
        if by == "words" and token.joined and groups:
            groups[-1].append(token)
        else:
            groups.append([token])
    return tuple(_unit(group) for group in groups)


def _unit(group: list[TokenView]) -> Unit:
    first = group[0]
    shown = "".join(token.shown for token in group)
    text = first.text if len(group) == 1 else shown
    return Unit(tuple(t.position for t in group), text, shown, first.joined, first.kept, first.segment)


def summed(values: Sequence[float], units: Sequence[Unit]) -> tuple[float, ...]:
    """Sum the numbers of all positions within each unit."""
    return tuple(math.fsum(values[position] for position in unit.positions) for unit in units)


def strengths(result: AttributionResult, part: Part) -> list[float] | None:
    """Return how much each unit counts whatever its sign, for those that the baseline changes; None until all are
    known.
    """
    values = [value for value, unit in zip(part.values, result.units, strict=True) if not unit.kept]
    known = [abs(value) for value in values if value is not None]
    return known if len(known) == len(values) else None


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties by their mean rank; None for fewer than three, or if one side is all
    ties.
    """
    if len(first) < 3:  # two are always in perfect order, or in reverse
        return None
    return METRICS["spearman"].compute(first, second)
