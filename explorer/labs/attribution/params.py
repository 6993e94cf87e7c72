"""What a visitor or a client asks for, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from explorer.backend.runs.examples import FIRST, PRAISE
from explorer.errors import BadInputError
from explorer.labs.attribution.methods import BY_SLUG
from explorer.numbers import whole_number
from explorer.text import checked_text

BASELINES = ("auto", "mask", "pad", "zero")
"""What stands for a missing word; `auto` is mask where the model has a mask token, else zero."""

UNITS = ("tokens", "words")
MOST_STEPS = 1000
MOST_METHODS = 3
LONGEST_TARGET = 60


@dataclass(frozen=True)
class AttributeParams:
    """Which tokens made a model answer as it does.

    text: one with a mask for a model that fills masks. target: the word or the class whose log-odds are explained; the
    model's own answer where empty. method: one of METHODS by its slug, or up to three. second: a second text, for a pair.
    baseline: one of BASELINES. steps: of integrated gradients and conductance; 0 takes as many as it needs. position: which
    mask, or which token is asked whether it was replaced. by: tokens, or words.
    """

    model: str
    text: str
    target: str = ""
    method: tuple[str, ...] = ("integrated_gradients",)
    second: str = ""
    baseline: str = "auto"
    steps: int = 0
    position: int | None = None
    by: str = "tokens"

    def __post_init__(self) -> None:
        """Bring every field to one plain form, or raise BadInputError."""
        checked_text(self.text)
        _check_choices(self)
        object.__setattr__(self, "second", _optional_text(self.second, "second"))
        object.__setattr__(self, "position", _position(self.position))


@dataclass(frozen=True)
class AttributeRunParams:
    """The same for a fine-tuned run's class; sentence_b for tasks on pairs."""

    run: str = FIRST
    sentence_a: str = PRAISE
    sentence_b: str = ""
    target: str = ""
    method: tuple[str, ...] = ("integrated_gradients",)
    baseline: str = "auto"
    steps: int = 0
    by: str = "tokens"

    def __post_init__(self) -> None:
        """Bring every field to one plain form, or raise BadInputError."""
        if not isinstance(self.run, str) or not self.run:
            raise BadInputError("Choose a run first.")
        checked_text(self.sentence_a)
        _check_choices(self)
        object.__setattr__(self, "sentence_b", _optional_text(self.sentence_b, "sentence_b"))


def _check_choices(params: Any) -> None:
    if not isinstance(params.target, str) or len(params.target) > LONGEST_TARGET:
        raise BadInputError(f"target is one word or one class, of at most {LONGEST_TARGET} characters.")
    object.__setattr__(params, "target", params.target.strip())
    object.__setattr__(params, "method", _methods(params.method))
    for name, known in (("baseline", BASELINES), ("by", UNITS)):
        if getattr(params, name) not in known:
            raise BadInputError(f"{name} is one of {', '.join(known)}, not {str(getattr(params, name))[:40]!r}.")
    object.__setattr__(params, "steps", whole_number(params.steps or 0, "steps", 0, MOST_STEPS))


def _methods(value: object) -> tuple[str, ...]:
    """Slugs without repetition, in the order of METHODS, so that the same question is the same however it is put."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names:
        raise BadInputError(f"Choose a method: {', '.join(BY_SLUG)}.")
    for name in names:
        if not isinstance(name, str) or name not in BY_SLUG:
            raise BadInputError(f"There is no method {str(name)[:40]!r}. Choose from {', '.join(BY_SLUG)}.")
    if len(set(names) - {"rollout"}) > MOST_METHODS:
        raise BadInputError(
            f"At most {MOST_METHODS} methods stand side by side; attention rollout comes with them. Take one away."
        )
    return tuple(slug for slug in BY_SLUG if slug in names)


def _optional_text(value: object, name: str) -> str:
    if value is None or (isinstance(value, str) and not value.strip()):
        return ""
    if not isinstance(value, str):
        raise BadInputError(f"{name} takes a text, or nothing.")
    checked_text(value)
    return value


def _position(value: object) -> int | None:
    return None if value is None or value == "" else whole_number(value, "position", 0, 100_000)
