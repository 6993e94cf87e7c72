"""Parameters and results of the jobs that switch heads off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from explorer.kinds import Flag, Head, Name, Read, Whole, parse_heads
from explorer.labs.attention.head.schema import TokenPlace
from explorer.params import SecondText, Shown, Text, params
from explorer.runs.examples import FIRST, PRAISE

MOST_ANSWERS = 20


Off = Annotated[tuple[Head, ...], Read(parse_heads)]
"""(layer, head) pairs to switch off, or "0.3, 2.11"."""

Everywhere = Annotated[bool, Flag(), Shown("One layer serves every depth: switch at all of them")]
"""For a layer that is used several times (ALBERT): a head is off each time, instead of at the named depth only."""


@params
class AblateParams:
    """What the model says without some heads."""

    text: Annotated[Text, Shown("Text, with [MASK] for a guess", lines=(1, 4))]
    """With [MASK], or what else the model's head judges."""

    heads: Off = ()
    sentence_b: Annotated[SecondText, Shown("Second text, for a pair", lines=(1, 3))] = ""
    everywhere: Everywhere = False
    top_k: Annotated[int, Whole(1, MOST_ANSWERS)] = 5
    """Answers for each mask."""


@params
class AblateRunParams:
    """The same for a fine-tuned classifier, on what its task reads."""

    run: Annotated[str, Name(missing="Choose a run first; the worked examples are in the list as well.")] = FIRST
    sentence_a: Annotated[Text, Shown("Text", lines=(2, 5))] = PRAISE
    sentence_b: Annotated[SecondText, Shown("Second text, for tasks on pairs", lines=(1, 3))] = ""
    heads: Off = ()
    everywhere: Everywhere = False


@params
class EachHeadParams:
    """A text, or a pair; every head is switched off alone."""

    text: Text
    sentence_b: SecondText = ""


@dataclass(frozen=True)
class AnswerChange:
    """One answer at one place, with its probability before and after."""

    position: int
    answer: str
    before: float
    after: float


@dataclass(frozen=True)
class AblateResult:
    """What the model says with every head and without some.

    question: its kind (explorer.models.questions), with its title. answers: place by place, the likeliest before first.
    divergence: KL(before ‖ after) in nats, the mean over the places. shared: one layer is used at every depth.
    """

    model: str
    question: str
    title: str
    tokens: tuple[TokenPlace, ...]
    layers: int
    heads: int
    off: tuple[Head, ...]
    shared: bool
    answers: tuple[AnswerChange, ...]
    divergence: float


@dataclass(frozen=True)
class EachHeadResult:
    """after[layer][head]: the probability of the leading answer when that head alone is off; before: with all.

    question, shared: as AblateResult's.
    """

    model: str
    position: int
    answer: str
    before: float
    after: tuple[tuple[float, ...], ...]
    question: str = "mask"
    shared: bool = False
