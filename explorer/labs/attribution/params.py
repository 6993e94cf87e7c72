"""What a visitor or a client asks for, checked."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator

from explorer.errors import BadInputError
from explorer.kinds import Name, OneOf, Read, Whole
from explorer.labs.attribution.methods import BY_SLUG, COMPARED
from explorer.params import MaybePosition, SecondText, Shown, Text, params
from explorer.runs.examples import FIRST, PRAISE

MOST_METHODS = 3
LONGEST_TARGET = 60


def _target(value: Any) -> str:
    value = "" if value is None else value  # an empty control sends None
    if not isinstance(value, str) or len(value) > LONGEST_TARGET:
        raise BadInputError(f"target is one word or one class, of at most {LONGEST_TARGET} characters.")
    return value.strip()


def _methods(value: Any) -> tuple[str, ...]:
    """Read slugs without repetition, in the order of METHODS, so that the same choice is always the same question."""
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names:
        raise BadInputError(f"Choose a method: {', '.join(BY_SLUG)}.")
    for name in names:
        if not isinstance(name, str) or name not in BY_SLUG:
            raise BadInputError(f"There is no method {str(name)[:40]!r}. Choose from {', '.join(BY_SLUG)}.")
    # Three columns of bars fit beside the rollout's.
    if len(set(names) - {"rollout"}) > MOST_METHODS:
        raise BadInputError(
            f"At most {MOST_METHODS} methods stand side by side; attention rollout comes with them. Take one away."
        )
    return tuple(slug for slug in BY_SLUG if slug in names)


Target = Annotated[str, Read(_target), Shown("Explain which answer?")]
"""The word or the class whose log-odds are explained; the model's own answer where empty."""

Methods = Annotated[
    tuple[str, ...],
    Read(_methods),
    Shown(f"Methods, up to {MOST_METHODS}", choices=tuple((method.title, method.slug) for method in COMPARED)),
]
Baseline = Annotated[
    str,
    OneOf(
        ("auto", "mask", "pad", "zero"),
        ("[MASK], or zero where there is none", "[MASK]", "[PAD]", "zero vector"),
        said="{name} is one of {known}, not {value}.",
    ),
    Shown("Baseline, in place of every token"),
]
Steps = Annotated[
    int,
    Whole(0, 1000, optional=True),
    AfterValidator(lambda steps: steps or 0),
    Shown("Steps", "0 raises them until the sum is within 2% of the difference."),
]
"""Of integrated gradients and conductance."""

By = Annotated[
    str,
    OneOf(("tokens", "words"), ("tokens", "whole words"), said="{name} is one of {known}, not {value}."),
    Shown("Count by"),
]


OPENING = ("integrated_gradients", "gradient_x_input")
"""The methods that the page asks for at first."""


@params
class AttributeParams:
    """Which tokens made a model answer as it does."""

    model: Annotated[str, Name()]
    text: Annotated[Text, Shown("Text", lines=(1, 6))]
    """With a mask for a model that fills masks."""

    target: Target = ""
    method: Methods = ("integrated_gradients",)
    second: Annotated[SecondText, Shown("Second text, for a pair", lines=(1, 4))] = ""
    baseline: Baseline = "auto"
    steps: Steps = 0
    position: MaybePosition = None
    """Which mask, or which token is asked whether it was replaced."""

    by: By = "tokens"


@params
class AttributeRunParams:
    """The same for a fine-tuned run's class."""

    run: Annotated[str, Name(missing="Choose a run first.")] = FIRST
    sentence_a: Annotated[Text, Shown("Text", lines=(2, 6))] = PRAISE
    sentence_b: Annotated[SecondText, Shown("Second text, for tasks on pairs", lines=(1, 4))] = ""
    target: Target = ""
    method: Methods = ("integrated_gradients",)
    baseline: Baseline = "auto"
    steps: Steps = 0
    by: By = "tokens"
