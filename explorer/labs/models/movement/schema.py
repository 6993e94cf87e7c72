"""What is asked about the layers' steps and what comes out; plain data, no model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Names
from explorer.params import Shown, Text, params

MOST_MODELS = 4
COMPARED = ("albert-mini", "bert-mini")
TEXT = (
    "The lighthouse keeper wrote a letter to his sister every Sunday. He told her about the storms, the ships that passed, and "
    "the birds that rested on the rocks. She kept all of his letters in a wooden box under her bed."
)


def _some(names: tuple[str, ...]) -> tuple[str, ...]:
    if not 1 <= len(names) <= MOST_MODELS:
        raise BadInputError(f"models takes one to {MOST_MODELS} names, such as {', '.join(COMPARED)}.")
    return tuple(dict.fromkeys(names))


@params
class MovementParams:
    """A text, and the models whose layers are compared on it."""

    models: Annotated[
        tuple[str, ...],
        Names("models takes names as a list, or as a text with commas."),
        AfterValidator(_some),
        Shown("Models"),
    ] = COMPARED
    text: Annotated[Text, Shown("Text", lines=(4, 8))] = TEXT


@dataclass(frozen=True)
class Step:
    """What one layer does to the states, as means over the text's tokens without the special ones.

    angle: between its input and its output, in degrees. distance: of the two (L2). length: of its input (L2).
    """

    layer: int
    angle: float
    distance: float
    length: float


@dataclass(frozen=True)
class Movement:
    """One model's layers in order. shares: whether all of them are one set of weights."""

    model: str
    shares: bool
    tokens: int
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class MovementResult:
    """The models as they were asked for."""

    models: tuple[Movement, ...]
