"""What goes into the distillation lab's jobs on one sentence, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.models.catalog import DEFAULT_MODEL
from explorer.numbers import MOST_LAYERS, exact_number, real_number
from explorer.text import checked_text

COLDEST, HOTTEST = 0.1, 20.0
"""Ends of the temperature slider."""

MASKED = "Cats and [MASK] are popular pets."
"""What a model is asked where no text is given."""

HIGHEST_TEMPERATURE = 1000.0
MOST_SHOWN = 30
CURVE = tuple(COLDEST * (HOTTEST / COLDEST) ** (place / 60) for place in range(61))
"""Where entropy and dark knowledge are computed, evenly on a logarithmic scale."""

GRADIENT_CURVE = tuple(10.0 ** (place / 12 - 1) for place in range(37))
"""Where the gradient is computed: from 0.1 to 100."""

REST = "the rest"
BEFORE_BLANK = "what stands at the blank, from what is before it"
"""What a model that only continues a text is asked where the text has a blank."""


def _check_texts(text: object, second: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise BadInputError("The sentence is empty. Type one, or pick an example.")
    for given in (text, second):
        if given:
            checked_text(given)


def _run(name: object) -> str | None:
    """A run's name; None for none."""
    if name is not None and not isinstance(name, str):
        raise BadInputError(f"A run is named by a text; got {name!r}.")
    return name or None


@dataclass(frozen=True)
class SoftTargetsParams:
    """A teacher and a sentence. run: a fine-tuned classifier; without one the model answers with its pretrained head.

    second: the other text of a pair. top_k: how many classes of a vocabulary are named; a classifier's are named all.
    answer: the true class or word, where the visitor knows it; without it the hard target is the teacher's own first choice.
    """

    text: str = MASKED
    temperature: float = 2.0
    model: str = DEFAULT_MODEL
    run: str | None = None
    second: str = ""
    top_k: int = 8
    answer: str = ""

    def __post_init__(self) -> None:
        """Raise BadInputError for an empty text, a temperature that is not above 0, or too many classes."""
        _check_texts(self.text, self.second)
        object.__setattr__(self, "run", _run(self.run))
        temperature = real_number(self.temperature, "temperature", 0, HIGHEST_TEMPERATURE, above=True)
        object.__setattr__(self, "temperature", temperature)
        object.__setattr__(self, "answer", checked_text(self.answer).strip() if self.answer else "")
        object.__setattr__(self, "top_k", exact_number(self.top_k, "top_k", 1, MOST_SHOWN))


@dataclass(frozen=True)
class Target:
    """One class. logit: None for the rest of a vocabulary taken together. hard: 1 for the true answer, or where that is not
    known for the teacher's first choice; 0 for every other class."""

    name: str
    logit: float | None
    hard: float
    soft: float


@dataclass(frozen=True)
class SoftTargetsResult:
    """What the teacher says. classes: how many there are. places: how many masks, of which the first is shown.

    curve: (temperature, entropy in nats, mass on all classes but the answer). logits: all of them, largest first, as base64 of
    float32, so that the page can soften them itself. truth: the true answer where the visitor gave it, and truth_soft its share.
    """

    teacher: str
    asked: str
    places: int
    targets: tuple[Target, ...]
    temperature: float
    entropy: float
    dark: float
    classes: int
    curve: tuple[tuple[float, float, float], ...]
    logits: str
    truth: str = ""
    truth_soft: float = 0.0


@dataclass(frozen=True)
class LossesParams:
    """A teacher, a student and a sentence.

    run_student: a run as the student; without one it is the teacher with student_layers of its layers, 0 for every second.
    alpha: the share of the soft loss in the weighted average.
    """

    text: str = MASKED
    temperature: float = 2.0
    model: str = DEFAULT_MODEL
    run: str | None = None
    second: str = ""
    run_student: str | None = None
    student_layers: int = 0
    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Raise BadInputError for what SoftTargetsParams refuses, a share outside 0 to 1 and a number of layers below 0."""
        SoftTargetsParams(self.text, self.temperature, self.model, self.run, self.second)
        for name in ("run", "run_student"):
            object.__setattr__(self, name, _run(getattr(self, name)))
        object.__setattr__(self, "temperature", float(self.temperature))
        object.__setattr__(self, "alpha", real_number(self.alpha, "alpha", 0, 1))
        object.__setattr__(self, "student_layers", exact_number(self.student_layers, "student_layers", 0, MOST_LAYERS))


@dataclass(frozen=True)
class Loss:
    """One loss. formula: LaTeX. value: None where it cannot be had, and `note` says why."""

    slug: str
    title: str
    formula: str
    value: float | None
    note: str = ""


@dataclass(frozen=True)
class Compared:
    """One class for both. soft: at the temperature."""

    name: str
    teacher_logit: float | None
    student_logit: float | None
    teacher: float
    student: float


@dataclass(frozen=True)
class LossesResult:
    """gradients: (temperature, norm of the soft loss's gradient, the same times T²). limit: what the latter tends to."""

    teacher: str
    student: str
    asked: str
    answer: str
    temperature: float
    alpha: float
    classes: tuple[Compared, ...]
    losses: tuple[Loss, ...]
    gradients: tuple[tuple[float, float, float], ...]
    limit: float
