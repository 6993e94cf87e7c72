"""What can be asked about pruning; checked before anything is computed."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Self

from pydantic import model_validator

from explorer.compress.cuts import ORDERS, UNITS
from explorer.errors import BadInputError
from explorer.kinds import Flag, Head, Name, OneOf, Read, Whole, parse_heads
from explorer.maths.importance import SCORES
from explorer.models.catalog import DEFAULT_MODEL
from explorer.params import Seed, Shown, params

FORMS = ("fp32", "bf16", "int8")
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9)
"""Where an order's line is measured."""

MOST_STEPS, MOST_TRAINING = 32, 100

READ = 256
"""Examples that the page asks for: of 64 the order of the heads is not certain enough."""

JUDGED = 160
"""Held-out examples that the page asks for: all of the bundled task's."""

SHARE_IN_STEPS, MANY_STEPS = 0.6, 16
"""What goes in one step and in many, and in how many: far enough for the two to part."""


def _share(value: Any) -> float:
    """Read what is taken away, above 0 and below 1; the sentences say what the bounds mean."""
    share = _real(value)
    if share == 0:
        raise BadInputError("share is 0: nothing would be taken away. Give a number above 0 and below 1, such as 0.5.")
    if share == 1:
        raise BadInputError("share is 1: nothing would be left. Give a number above 0 and below 1, such as 0.5.")
    if not 0 < share < 1:
        raise BadInputError(f"share is what is taken away, a number above 0 and below 1; got {value!r}.")
    return share


def _share_or_none(value: Any) -> float:
    return 0.0 if _real(value) == 0 else _share(value)


def _real(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan  # in no range, so the sentence is that of the bounds


def _key(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-f]{16}", value):
        raise BadInputError("Nothing has been pruned yet. Prune first, then take the model home.")
    return value


Unit = Annotated[
    str, OneOf(UNITS, ("heads", "neurons", "heads and neurons", "layers", "weights")), Shown("Take away", dropdown=True)
]
Share = Annotated[float, Read(_share), Shown("Share to take away", slider=(0.05, 0.95, 0.05))]


@params
class Asking:
    """What every question here starts with."""

    model: Annotated[str, Name(optional=True)] = DEFAULT_MODEL
    run: Annotated[str, Name(optional=True)] = ""
    """A fine-tuned run; empty for the pretrained `model` itself, which is asked without labels."""

    task: Annotated[str, Name(optional=True), Shown("Task", dropdown=True)] = ""
    """Where the texts come from; empty for the run's own, or the bundled ones in SST-2's manner."""

    loss: Annotated[
        str, OneOf(("labels", "soft"), ("on the labels", "of its own soft output")), Shown("Loss", dropdown=True)
    ] = "labels"
    examples: Annotated[int, Whole(1, 512), Shown("Examples for importance", slider=(16, 256, 16))] = 64
    held_out: Annotated[int, Whole(1, 2000), Shown("Held-out for the metric", slider=(40, 400, 40))] = 80


@params
class Scored(Asking):
    """A question about parts in the order of a score."""

    unit: Unit = "head"
    score: Annotated[str, OneOf(tuple(SCORES)), Shown("By which score", dropdown=True)] = "gradient"

    @model_validator(mode="after")
    def _score_is_for_the_unit(self) -> Self:
        if self.unit not in SCORES[self.score].units:
            fitting = ", ".join(name for name, score in SCORES.items() if self.unit in score.units)
            raise BadInputError(f"The score {self.score} is not for unit {self.unit}, which takes {fitting}.")
        return self


@params
class ImportanceParams(Scored):
    """The importance of every unit: head, neuron, layer or weight."""

    unit: Annotated[
        Unit,
        Shown(
            "Of what",
            choices=(
                *(("attention heads", "head"), ("feed-forward neurons", "neuron")),
                *(("whole layers", "layer"), ("weights", "weight")),
            ),
        ),
    ] = "head"

    @model_validator(mode="after")
    def _one_kind_of_unit(self) -> Self:
        if self.unit == "both":
            raise BadInputError("unit must be one kind here: head, neuron, layer or weight.")
        return self


@params
class OrdersParams(Scored):
    """Least important first, most important first, and `draws` random orders."""

    unit: Annotated[Unit, Shown("Take away")] = "head"
    draws: Annotated[int, Whole(0, 10), Shown("Random orders", slider=(0, 6))] = 2


@params
class PruneParams(Scored):
    """Take parts out: a share of all units, or down to a budget of heads and neurons a layer."""

    unit: Unit = "both"
    share: Share = 0.5
    steps: Annotated[int, Whole(1, MOST_STEPS), Shown("Steps", slider=(1, 16))] = 1
    """Importance is computed again before each."""

    order: Annotated[
        str, OneOf(ORDERS, ("least important first", "most important first", "random")), Shown("Order", dropdown=True)
    ] = "least"
    train_between: Annotated[int, Whole(0, MOST_TRAINING), Shown("Training steps after each", slider=(0, 30))] = 0
    even: Annotated[bool, Flag(), Shown("As many from every layer")] = False
    heads: Annotated[int, Whole(0, 1000), Shown("Heads a layer keeps", "On average; 0 goes by the share.")] = 0
    neurons: Annotated[int, Whole(0, 1_000_000), Shown("Neurons a layer keeps")] = 0
    seed: Annotated[Seed, Shown("Seed of the random order")] = 0

    @model_validator(mode="after")
    def _budget_is_of_heads_and_neurons(self) -> Self:
        if (self.heads or self.neurons) and self.unit in ("layer", "weight"):
            raise BadInputError("A budget is of heads and neurons: set unit to head, neuron or both.")
        return self


@params
class HandParams(Asking):
    """Take these heads away: pairs of layer and head from 0, or "0.3, 2.11"."""

    heads: Annotated[tuple[Head, ...], Read(parse_heads)] = ()


@params
class StepsParams(Scored):
    """One step against many, and many with a little training between."""

    unit: Unit = "both"
    share: Share = 0.5
    steps: Annotated[int, Whole(2, MOST_STEPS), Shown("Many steps", slider=(2, 16))] = 4
    train_between: Annotated[
        int, Whole(0, MOST_TRAINING), Shown("Training steps after each of them", slider=(0, 30))
    ] = 6


@params
class QuantiseParams(Asking):
    """The model in each form of FORMS, at a batch of `batch`; share above 0 prunes heads and neurons first and shows both."""

    share: Annotated[float, Read(_share_or_none), Shown("Prune this share first", slider=(0, 0.9, 0.05))] = 0.0
    batch: Annotated[int, Whole(1, 64), Shown("Texts in a batch", slider=(1, 64))] = 16


@params
class ExportParams(Asking):
    """A pruned model as a zip. key: what `prune` gave."""

    key: Annotated[str, Read(_key)] = ""
