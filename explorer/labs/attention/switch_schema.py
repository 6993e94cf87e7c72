"""What goes into the jobs that switch heads off and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.backend.runs.examples import FIRST, PRAISE
from explorer.errors import BadInputError
from explorer.labs.attention.schema import TokenPlace
from explorer.numbers import Head, parse_heads, whole_number
from explorer.text import checked_text

MOST_ANSWERS = 20


@dataclass(frozen=True)
class AblateParams:
    """text: with [MASK], or what else the model's head judges. heads: (layer, head) pairs to switch off, or "0.3, 2.11".

    sentence_b: a second text, for pairs. everywhere: for a layer that is used several times (ALBERT), switch a head off each
    time instead of at the named depth only. top_k: answers shown for each mask.
    """

    text: str
    heads: tuple[Head, ...] = ()
    sentence_b: str = ""
    everywhere: bool = False
    top_k: int = 5

    def __post_init__(self) -> None:
        """Bring every field to its plain form, or raise BadInputError."""
        _check(self)
        object.__setattr__(self, "top_k", whole_number(self.top_k, "top_k", 1, MOST_ANSWERS))


@dataclass(frozen=True)
class AblateRunParams:
    """The same for a fine-tuned classifier: run is its name, sentence_a and sentence_b what its task reads."""

    run: str = FIRST
    sentence_a: str = PRAISE
    sentence_b: str = ""
    heads: tuple[Head, ...] = ()
    everywhere: bool = False

    def __post_init__(self) -> None:
        """Bring every field to its plain form, or raise BadInputError."""
        if not isinstance(self.run, str) or not self.run.strip():
            raise BadInputError("Choose a run first; the worked examples are in the list as well.")
        _check(self)


@dataclass(frozen=True)
class EachHeadParams:
    """A text, or a pair; every head is switched off alone."""

    text: str
    sentence_b: str = ""

    def __post_init__(self) -> None:
        """Raise BadInputError for a text that cannot be read."""
        _check(self)


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


def _check(params: AblateParams | AblateRunParams | EachHeadParams) -> None:
    checked_text(params.sentence_a if isinstance(params, AblateRunParams) else params.text)
    second = params.sentence_b or ""
    object.__setattr__(params, "sentence_b", checked_text(second) if str(second).strip() else "")
    if not isinstance(params, EachHeadParams):
        object.__setattr__(params, "heads", parse_heads(params.heads))
        object.__setattr__(params, "everywhere", bool(params.everywhere))
