"""What an action takes, declared once: each field of a class under `@params` says what it accepts and how a page offers it.

    @params
    class LensParams:
        text: Text
        top_k: Annotated[int, Whole(1, 50), Shown("Ranks", slider=(1, 10))] = 5

A value that a field doesn't accept raises BadInputError with a sentence that names the parameter, whoever sent it.
`explorer.ui.controls` makes the page's controls from the same declaration.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, TypeVar, cast, dataclass_transform

from pydantic import AfterValidator, ConfigDict, ValidationError
from pydantic.dataclasses import dataclass as validated
from pydantic.dataclasses import rebuild_dataclass

from explorer.errors import BadInputError
from explorer.kinds import LARGEST_SEED, MOST_LAYERS, MOST_TOKENS, Kind, Name, Read, Sentence, Whole

_Class = TypeVar("_Class")
_BUILDING = threading.Lock()
_CONFIG = ConfigDict(extra="forbid", validate_default=True, defer_build=True)


@dataclass_transform(frozen_default=True)
def params(cls: type[_Class]) -> type[_Class]:
    """Make a frozen dataclass that reads every value by the Kind at its field.

    Raises BadInputError for a value, TypeError for a name that is missing or unknown.
    """
    made = cast(Any, validated(cls, frozen=True, config=_CONFIG))
    read = made.__init__

    def init(self: Any, *values: Any, **named: Any) -> None:
        if not made.__pydantic_complete__:  # at the first call, so that no start waits for what all classes take
            with _BUILDING:
                if rebuild_dataclass(made):  # which puts pydantic's own __init__ in this one's place
                    made.__init__ = init
        try:
            read(self, *values, **named)
        except ValidationError as error:  # of values the Kinds have spoken, so this is about their names
            first = error.errors(include_url=False, include_input=False)[0]
            raise TypeError(f"{cls.__name__}: {first['msg']}: {'.'.join(map(str, first['loc']))}") from None

    made.__init__ = init
    return cast(type[_Class], made)


@dataclass(frozen=True)
class Shown:
    """How a page offers a parameter.

    title: its label. info: the line below that. slider: its ends and its step (1 if left out), which may be a part of
    what is accepted. choices: (title, value) pairs, if the Kind has none. dropdown: whether they are a list rather than
    all in view. lines: of a text box, at least and at most. several: how many of a list may be chosen, or typed, at
    most.
    """

    title: str
    info: str | None = None
    slider: tuple[float, ...] = ()
    choices: tuple[tuple[str, Any], ...] = ()
    dropdown: bool = False
    lines: tuple[int, int] | None = None
    several: int = 0


@dataclass(frozen=True)
class Declared:
    """A field as its class declares it. default: MISSING if a value has to be given."""

    default: Any
    kind: Kind
    shown: Shown


@cache
def several(most: int, *such_as: str) -> AfterValidator:
    """Return the check of a list of models: each once, one at least and `most` at most."""

    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        models = tuple(dict.fromkeys(names))
        if not 1 <= len(models) <= most:
            raise BadInputError(f"models takes one to {most} names, such as {', '.join(such_as)}.")
        return models

    return AfterValidator(check)


def declared(kind: type) -> dict[str, Declared]:
    """Return the fields of a class under `@params`, by name."""
    found = {}
    for field in fields(cast(Any, kind)):
        marks = cast(Any, kind).__pydantic_fields__[field.name].metadata
        shown = [Shown(field.name), *(mark for mark in marks if isinstance(mark, Shown))]
        kinds = [Name(), *(mark for mark in marks if isinstance(mark, Kind))]
        found[field.name] = Declared(field.default, kinds[-1], shown[-1])  # the field's own come after its type's
    return found


Layer = Annotated[int, Whole(0, MOST_LAYERS), Shown("Layer", slider=(0, 11))]
HeadNumber = Annotated[int, Whole(0, MOST_LAYERS), Shown("Head", slider=(0, 11))]
Position = Annotated[int, Whole(0, MOST_TOKENS)]
MaybePosition = Annotated[int | None, Whole(0, MOST_TOKENS, optional=True)]
Seed = Annotated[int, Whole(0, LARGEST_SEED), Shown("Seed")]
Text = Annotated[str, Sentence()]
SecondText = Annotated[str, Sentence(optional=True)]
"""A text that may be missing, as in a pair."""


def _places(given: Any) -> tuple[int | str, ...]:
    places = given.split(",") if isinstance(given, str) else given
    if not isinstance(places, (list, tuple)):
        raise BadInputError("also_mask takes token positions or words, such as 3, 5 or Paris.")
    entries = [str(place).strip() for place in places]
    # Longer digits are a word: no position has so many.
    return tuple(int(entry) if entry.isdecimal() and len(entry) < 10 else entry for entry in entries if entry)


HiddenPlaces = Annotated[tuple[int | str, ...], Read(_places)]
"""What is hidden: positions (0 is the first special token) or words, as a tuple or with commas."""


def _spans(given: Any) -> tuple[tuple[int, int], ...]:
    try:
        return tuple((int(start), int(stop)) for start, stop in given)
    except (TypeError, ValueError, OverflowError):
        raise BadInputError("spans takes pairs of characters, such as ((0, 5), (9, 12)).") from None


CharacterSpans = Annotated[tuple[tuple[int, int], ...], Read(_spans)]
"""What is hidden, as (start, stop) characters, for another model's tokens."""
