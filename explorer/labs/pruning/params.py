"""What can be asked about pruning; checked before anything is computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from explorer.compress.cuts import ORDERS, UNITS
from explorer.errors import BadInputError
from explorer.models.catalog import DEFAULT_MODEL
from explorer.numbers import parse_heads, whole_number

LOSSES = ("labels", "soft")
FORMS = ("fp32", "bf16", "int8")
SCORES = {
    "gradient": ("head", "neuron", "both", "layer", "weight"),
    "normalised": ("head", "neuron", "both"),
    "magnitude": ("weight",),
    "movement": ("weight",),
}
"""Each score with the units that it can be had for."""

MOST_EXAMPLES, MOST_HELD_OUT, MOST_STEPS, MOST_DRAWS, MOST_TRAINING = 512, 2000, 32, 10, 100
LARGEST_BATCH = 64


@dataclass(frozen=True)
class Asking:
    """What every question here starts with.

    run: a fine-tuned run; empty for the pretrained `model` itself, which is asked without labels. task: where the texts come
    from; empty for the run's own, or the bundled ones in SST-2's manner. loss: labels, or soft for the model's own output.
    examples: training examples that importance is measured on. held_out: examples that the metric is measured on.
    """

    model: str = DEFAULT_MODEL
    run: str = ""
    task: str = ""
    loss: str = "labels"
    examples: int = 64
    held_out: int = 80

    def __post_init__(self) -> None:
        """Raise BadInputError for what is out of range."""
        for name in ("model", "run", "task"):
            value = getattr(self, name)
            object.__setattr__(self, name, "" if value is None else value)
            if not isinstance(getattr(self, name), str):
                raise BadInputError(f"{name} must be a text; got {value!r}.")
        _one_of("loss", self.loss, LOSSES)
        self._whole("examples", 1, MOST_EXAMPLES)
        self._whole("held_out", 1, MOST_HELD_OUT)

    def _whole(self, name: str, least: int, most: int) -> None:
        object.__setattr__(self, name, whole_number(getattr(self, name), name, least, most))


@dataclass(frozen=True)
class ImportanceParams(Asking):
    """The importance of every unit: head, neuron, layer or weight; by a score of SCORES."""

    unit: str = "head"
    score: str = "gradient"

    def __post_init__(self) -> None:
        """As Asking; the unit is one kind."""
        super().__post_init__()
        _check_score(self.unit, self.score)
        if self.unit == "both":
            raise BadInputError("unit must be one kind here: head, neuron, layer or weight.")


@dataclass(frozen=True)
class OrdersParams(Asking):
    """Least important first, most important first, and `draws` random orders."""

    unit: str = "head"
    score: str = "gradient"
    draws: int = 2

    def __post_init__(self) -> None:
        """As Asking, and between no and MOST_DRAWS random orders."""
        super().__post_init__()
        _check_score(self.unit, self.score)
        self._whole("draws", 0, MOST_DRAWS)


@dataclass(frozen=True)
class PruneParams(Asking):
    """Take parts out.

    share: of the units, to be taken away. steps: in how many steps, importance computed again before each. order: least, most
    (important first) or random. train_between: training steps after each. even: every layer loses as many. heads, neurons: a
    budget instead of a share, how many a layer keeps (on average, or each where `even`); 0 for none.
    """

    unit: str = "both"
    score: str = "gradient"
    share: float = 0.5
    steps: int = 1
    order: str = "least"
    train_between: int = 0
    even: bool = False
    heads: int = 0
    neurons: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        """As Asking; raise BadInputError for a share that leaves nothing or takes nothing."""
        super().__post_init__()
        _check_score(self.unit, self.score)
        object.__setattr__(self, "share", checked_share(self.share))
        _one_of("order", self.order, ORDERS)
        self._whole("steps", 1, MOST_STEPS)
        self._whole("train_between", 0, MOST_TRAINING)
        self._whole("heads", 0, 1000)
        self._whole("neurons", 0, 1_000_000)
        self._whole("seed", 0, 2**31 - 1)
        object.__setattr__(self, "even", bool(self.even))
        if (self.heads or self.neurons) and self.unit in ("layer", "weight"):
            raise BadInputError("A budget is of heads and neurons: set unit to head, neuron or both.")


@dataclass(frozen=True)
class HandParams(Asking):
    """Take these heads away: pairs of layer and head from 0, or "0.3, 2.11"."""

    heads: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        """As Asking; raise BadInputError for what is no list of heads."""
        super().__post_init__()
        object.__setattr__(self, "heads", parse_heads(self.heads))


@dataclass(frozen=True)
class StepsParams(Asking):
    """One step against many, and many with a little training between."""

    unit: str = "both"
    score: str = "gradient"
    share: float = 0.5
    steps: int = 4
    train_between: int = 6

    def __post_init__(self) -> None:
        """As Asking; the steps are two or more."""
        super().__post_init__()
        _check_score(self.unit, self.score)
        object.__setattr__(self, "share", checked_share(self.share))
        self._whole("steps", 2, MOST_STEPS)
        self._whole("train_between", 0, MOST_TRAINING)


@dataclass(frozen=True)
class QuantiseParams(Asking):
    """The model in each form of FORMS, at a batch of `batch`; share above 0 prunes heads and neurons first and shows both."""

    share: float = 0.0
    batch: int = 16

    def __post_init__(self) -> None:
        """As Asking."""
        super().__post_init__()
        object.__setattr__(self, "share", 0.0 if _real(self.share) == 0 else checked_share(self.share))
        self._whole("batch", 1, LARGEST_BATCH)


@dataclass(frozen=True)
class ExportParams(Asking):
    """The pruned model of a key that /prune gave, as a zip."""

    key: str = ""

    def __post_init__(self) -> None:
        """As Asking; raise BadInputError where nothing has been pruned yet."""
        super().__post_init__()
        if not isinstance(self.key, str) or not re.fullmatch(r"[0-9a-f]{16}", self.key):
            raise BadInputError("Nothing has been pruned yet. Prune first, then take the model home.")


def checked_share(value: object) -> float:
    """A share above 0 and below 1; raises BadInputError with what the bound means."""
    share = _real(value)
    if share == 0:
        raise BadInputError("share is 0: nothing would be taken away. Give a number above 0 and below 1, such as 0.5.")
    if share == 1:
        raise BadInputError("share is 1: nothing would be left. Give a number above 0 and below 1, such as 0.5.")
    if not 0 < share < 1:
        raise BadInputError(f"share is what is taken away, a number above 0 and below 1; got {value!r}.")
    return share


def _real(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return math.nan


def _one_of(name: str, value: object, known: Iterable[str]) -> None:
    if value not in tuple(known):
        raise BadInputError(f"{name} must be one of {', '.join(known)}; got {str(value)[:40]!r}.")


def _check_score(unit: object, score: object) -> None:
    _one_of("unit", unit, UNITS)
    _one_of("score", score, SCORES)
    if unit not in SCORES[str(score)]:
        fitting = ", ".join(name for name, units in SCORES.items() if unit in units)
        raise BadInputError(f"The score {score} is not for unit {unit}, which takes {fitting}.")
