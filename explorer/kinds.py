"""What a parameter accepts: numbers between bounds, names, texts, heads. Each kind has the sentence for what it refuses."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from explorer.errors import BadInputError
from explorer.text import checked_text, encodable

LARGEST_SEED = 2**31 - 1
MOST_LAYERS = 1000
"""A bound before the model is known; the job refuses what the model doesn't have."""

MOST_HEADS = 5000
MOST_TOKENS = 100_000

Head = tuple[int, int]
"""Layer and head, from 0."""


@dataclass(frozen=True)
class Kind:
    """What a field accepts. `read` brings a value to its plain form, or raises BadInputError."""

    what = "a number"
    """What is meant, where something else altogether was sent."""

    def read(self, value: Any, name: str) -> Any:
        """The value of the parameter of this name."""
        raise NotImplementedError

    def other(self, value: Any, name: str) -> BadInputError:
        """The error for a value of another type altogether."""
        called = {dict: "an object", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)[:40]
        return BadInputError(f"{name} must be {self.what}; got {called}.")

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    def _validate(self, value: Any, info: ValidationInfo) -> Any:
        return self.read(encodable(value), str(info.field_name))


@dataclass(frozen=True)
class Number(Kind):
    """A number between two bounds. above: the lower one is left out. optional: nothing is None.

    said: the sentence for what is refused, of {name} and {value}.
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    optional: bool = False
    said: str = ""

    def read(self, value: Any, name: str) -> Any:
        """From a number or what spells one; NaN and the infinities are none."""
        if self.optional and (value is None or value == ""):
            return None
        try:
            number = self.parsed(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        high_enough = self.least < number if self.above else self.least <= number
        if not (math.isfinite(number) and high_enough and number <= self.most):
            raise BadInputError(self.refusal(value, name))
        return self.exact(number, value, name)

    def parsed(self, value: Any) -> float:
        """The number that a value is or spells. Raises TypeError, ValueError or OverflowError."""
        return float(value)

    def exact(self, number: float, value: Any, name: str) -> float:
        """The number in this kind's type."""
        return number

    def refusal(self, value: Any, name: str) -> str:
        """What is said of a value that isn't accepted."""
        if self.said:
            return self.said.format(name=name, value=repr(value))
        bound = f"{'above' if self.above else 'from'} {self.least:g} to {self.most:g}"
        return f"{name} must be a number {bound}; got {value!r}."


@dataclass(frozen=True)
class Exact(Number):
    """A whole number, half ones refused with what was sent."""

    def exact(self, number: float, value: Any, name: str) -> int:
        """An int."""
        if number != int(number):
            raise BadInputError(f"{name} must be a whole number; got {value!r}.")
        return int(number)


@dataclass(frozen=True)
class Whole(Number):
    """A whole number, in digits alone where it is a text, with one sentence for all that it can't be."""

    def parsed(self, value: Any) -> float:
        """As Number's."""
        return float(int(value) if isinstance(value, str) else value)

    def exact(self, number: float, value: Any, name: str) -> int:
        """An int."""
        if number != int(number):
            raise BadInputError(self.refusal(value, name))
        return int(number)

    def refusal(self, value: Any, name: str) -> str:
        """As Number's; the value is repeated where only the lower bound can be named."""
        if math.isfinite(self.most):
            return f"{name} must be a whole number from {self.least:g} to {self.most:,}."
        return f"{name} must be a whole number, {self.least:g} or more; got {str(value)[:40]!r}."


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no."""

    what = "true or false"

    def read(self, value: Any, name: str) -> bool:
        """Whatever Python takes for true; "false", "no" and "0" are what they say."""
        if isinstance(value, list | dict):
            raise self.other(value, name)
        return value.strip().lower() not in ("", "false", "no", "0") if isinstance(value, str) else bool(value)


@dataclass(frozen=True)
class Name(Kind):
    """A string. missing: what is said where there is none or an empty one; optional: nothing is an empty one."""

    missing: str = ""
    optional: bool = False
    what = "a text"

    def read(self, value: Any, name: str) -> str:
        """As it is."""
        if self.optional and value is None:
            return ""
        if self.missing and not (isinstance(value, str) and value.strip()):
            raise BadInputError(self.missing)
        if not isinstance(value, str):
            raise self.other(value, name)
        return value


@dataclass(frozen=True)
class Sentence(Kind):
    """A text to look at; where it is optional spaces alone are an empty one. said: the sentence for what is no text at all."""

    said: str = ""
    optional: bool = False
    what = "a text"

    def read(self, value: Any, name: str) -> str:
        """The text as it was typed, once it is known to be of a length that can be read."""
        if isinstance(value, list | dict):
            raise self.other(value, name)
        blank = value is None or (isinstance(value, str) and not value.strip())
        if self.optional and blank:
            return ""
        said = self.said or (f"{name} takes a text, or nothing." if self.optional else "")
        if said and (blank or not isinstance(value, str)):
            raise BadInputError(said)
        checked_text(value)
        return cast(str, value)


@dataclass(frozen=True)
class OneOf(Kind):
    """One of some names. said: the sentence for another, of {name}, {known} and {value}."""

    known: Sequence[str]
    said: str = "{name} must be one of {known}; got {value}."

    def read(self, value: Any, name: str) -> str:
        """The name."""
        if value not in tuple(self.known):
            known = ", ".join(self.known)
            raise BadInputError(self.said.format(name=name, known=known, value=repr(str(value)[:40])))
        return cast(str, value)


@dataclass(frozen=True)
class Names(Kind):
    """Several names: a list, or a text with commas. said: the sentence for what is neither; optional: nothing is none of them."""

    said: str = ""
    optional: bool = True
    what = "a list, or a text with commas"

    def read(self, value: Any, name: str) -> tuple[str, ...]:
        """Without the spaces around them, and without empty ones."""
        if isinstance(value, str):  # a client's list may come through a text box, as Python writes it
            value = value.strip("[]").replace("'", "").replace('"', "").split(",")
        value = () if value is None and self.optional else value
        if not isinstance(value, list | tuple) or any(isinstance(one, list | dict) for one in value):
            raise BadInputError(self.said.format(value=repr(value))) if self.said else self.other(value, name)
        return tuple(str(one).strip() for one in value if str(one).strip())


@dataclass(frozen=True)
class Read(Kind):
    """Whatever a function makes of a value; it raises BadInputError itself."""

    function: Callable[[Any], Any]

    def read(self, value: Any, name: str) -> Any:
        """What the function makes of it."""
        return self.function(value)


@dataclass(frozen=True)
class Heads(Kind):
    """(layer, head) pairs: a list of pairs, or "0.3, 2.11"; sorted, each once."""

    what = 'pairs of layer and head, such as [[0, 3], [2, 11]] or "0.3, 2.11"'

    def read(self, value: Any, name: str) -> tuple[Head, ...]:
        """The pairs; none for nothing."""
        if isinstance(value, str):
            value = _written(value)
        value = () if value is None else value
        if not isinstance(value, list | tuple):
            raise BadInputError(f"{name} takes {self.what}.")
        if len(value) > MOST_HEADS:
            raise BadInputError(f"{name} takes at most {MOST_HEADS:,} pairs.")
        pairs = set()
        for entry in value:
            pair = entry.split(".") if isinstance(entry, str) else entry
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                raise BadInputError(f"{name} takes {self.what}.")
            layer, head = (
                Whole(0, MOST_LAYERS).read(part, of) for part, of in zip(pair, ("layer", "head"), strict=True)
            )
            pairs.add((layer, head))
        return tuple(sorted(pairs))


def _written(value: str) -> list[Any]:
    """Pairs from a text: "0.3, 2.11", or a list as a client's text box receives it."""
    if value.lstrip().startswith("["):
        numbers = re.findall(r"[^\[\](),\s]+", value)
        return [numbers[start : start + 2] for start in range(0, len(numbers), 2)]
    return [entry for entry in re.split(r"[,;\s]+", value.strip()) if entry]
