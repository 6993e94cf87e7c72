"""Parameters and results of the distillation jobs on one sentence: soft targets, losses, gradients."""

from __future__ import annotations

from dataclasses import dataclass

COLDEST, HOTTEST = 0.1, 20.0
"""Ends of the temperature slider."""

CURVE = tuple(COLDEST * (HOTTEST / COLDEST) ** (place / 60) for place in range(61))
"""Where entropy and dark knowledge are computed, evenly on a logarithmic scale."""

GRADIENT_CURVE = tuple(10.0 ** (place / 12 - 1) for place in range(37))
"""Where the gradient is computed: from 0.1 to 100."""

REST = "the rest"
BEFORE_BLANK = "what stands at the blank, from what is before it"
"""What a model that only continues a text is asked where the text has a blank."""


@dataclass(frozen=True)
class Target:
    """One class. logit: None for the rest of a vocabulary taken together. hard: 1 for the true answer, or, if that is
    not known, for the teacher's first choice; 0 for every other class.
    """

    name: str
    logit: float | None
    hard: float
    soft: float


@dataclass(frozen=True)
class SoftTargetsResult:
    """What the teacher says. classes: how many there are. places: how many masks, of which the first is shown.

    curve: (temperature, entropy in nats, mass on all classes but the answer). logits: all of them, largest first, as base64 of
    float32, so that the page can soften them itself. truth: the true answer if the visitor gave it. truth_soft: its share.
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
class Loss:
    """One loss. formula: LaTeX. value: None if it cannot be had, and `note` says why."""

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
    """gradients: (temperature, norm of the soft loss's gradient, the same times T²). limit: what the latter tends to.

    answer: the teacher's first choice. truth: the true class where it was given; the hard loss is then against it.
    """

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
    truth: str = ""
