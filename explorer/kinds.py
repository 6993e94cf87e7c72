"""The kinds of values that parameters accept: numbers between bounds, names, texts. Each has the sentence for what it
refuses.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from explorer.errors import BadInputError
from explorer.text import checked_text, encodable

LARGEST_SEED = 2**31 - 1
MOST_LAYERS = 1000
"""A bound before the model is known; the job refuses layers that the model doesn't have."""

MOST_HEADS = 5000
MOST_TOKENS = 100_000
LONGEST_LIST = 200_000
"""Characters of a list that is written as a text."""

Head = tuple[int, int]
"""Layer and head, from 0."""


@dataclass(frozen=True)
class Kind:
    """The values that a field accepts."""

    what = ""
    """A description of the accepted values, for the sentence if a list or an object was sent."""

    @property
    def accepts(self) -> str:
        """The accepted values, in words that follow no name."""
        return self.what

    def read(self, value: Any, name: str) -> Any:
        """Return the value of the parameter of this name in its plain form. Raises BadInputError."""
        raise NotImplementedError

    def other(self, value: Any, name: str) -> BadInputError:
        """Return the error for a value of another type altogether."""
        called = {dict: "an object", list: "a list", type(None): "nothing"}.get(type(value)) or repr(value)[:40]
        return BadInputError(f"{name} must be {self.what}; got {called}.")

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(
            lambda value, info: self.read(encodable(value), str(info.field_name))
        )


@dataclass(frozen=True)
class Number(Kind):
    """A finite number from least to most, given as a number or a string. above=True excludes the lower bound;
    optional=True turns an empty value into None.

    said: the sentence for what is refused, with {name} and {value}.
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False
    optional: bool = False
    said: str = ""
    what = "a number"

    @property
    def accepts(self) -> str:
        """The type with the bounds that there are."""
        if math.isfinite(self.most):
            return f"{self.what} {'above' if self.above else 'from'} {self.least:g} to {_plain(self.most)}"
        return f"{self.what}, {self.least:g} or more" if math.isfinite(self.least) else self.what

    def read(self, value: Any, name: str) -> Any:
        """Return a float; NaN and the infinities are refused. Raises BadInputError."""
        if self.optional and (value is None or value == ""):
            return None
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        high_enough = self.least < number if self.above else self.least <= number
        if not (math.isfinite(number) and high_enough and number <= self.most):
            raise BadInputError(self.refusal(value, name))
        return number

    def refusal(self, value: Any, name: str) -> str:
        """Return the sentence for a value that isn't accepted."""
        bounds = f"{'above' if self.above else 'from'} {self.least:g} to {self.most:g}"
        said = self.said or f"{{name}} must be a number {bounds}; got {{value}}."
        return said.format(name=name, value=repr(value))


def _plain(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:g}"


@dataclass(frozen=True)
class Exact(Number):
    """A whole number; for a fraction the sentence repeats what was sent."""

    what = "a whole number"

    def read(self, value: Any, name: str) -> Any:
        """Return an int. Raises BadInputError."""
        number = super().read(value, name)
        if number != int(number):
            raise BadInputError(f"{name} must be a whole number; got {value!r}.")
        return int(number)


@dataclass(frozen=True)
class Whole(Number):
    """A whole number, as a text in digits alone, with one sentence for everything that it can't be."""

    what = "a whole number"

    def read(self, value: Any, name: str) -> Any:
        """Return an int. Raises BadInputError."""
        number = super().read(value, name)
        if number is None:
            return None
        if number != int(number) or (isinstance(value, str) and not value.strip().lstrip("+-").isdecimal()):
            raise BadInputError(self.refusal(value, name))
        return int(number)

    def refusal(self, value: Any, name: str) -> str:
        """Return the sentence as Number does; the value is repeated if only the lower bound can be named."""
        if math.isfinite(self.most):
            return f"{name} must be a whole number from {self.least:g} to {self.most:,}."
        return f"{name} must be a whole number, {self.least:g} or more; got {str(value)[:40]!r}."


@dataclass(frozen=True)
class Flag(Kind):
    """Yes or no, as Python takes a value for true."""

    what = "true or false"

    def read(self, value: Any, name: str) -> bool:
        """Return a bool. Raises BadInputError for a list or an object."""
        if isinstance(value, list | dict):
            raise self.other(value, name)
        return bool(value)


@dataclass(frozen=True)
class Name(Kind):
    """A string. missing: the sentence for none or an empty one. optional: None becomes ""."""

    missing: str = ""
    optional: bool = False
    what = "a text"

    def read(self, value: Any, name: str) -> str:
        """Return the string unchanged. Raises BadInputError."""
        if self.optional and value is None:
            return ""
        if self.missing and not (isinstance(value, str) and value.strip()):
            raise BadInputError(self.missing)
        if not isinstance(value, str):
            raise self.other(value, name)
        return value


@dataclass(frozen=True)
class Sentence(Kind):
    """A text to look at; if it is optional, spaces alone count as empty. said: the sentence for what is no text at all."""

    said: str = ""
    optional: bool = False
    what = "a text"

    def read(self, value: Any, name: str) -> str:
        """Return the text as it was typed, once it is known to be of a length that can be read. Raises BadInputError."""
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
    """One of some names. titles: the page's names for them. said: the sentence for another, with {name}, {known} and
    {value}.
    """

    known: tuple[str, ...]
    titles: tuple[str, ...] = ()
    said: str = "{name} must be one of {known}; got {value}."

    @property
    def accepts(self) -> str:
        """The names."""
        return f"one of {', '.join(self.known)}"

    def read(self, value: Any, name: str) -> str:
        """Return the name. Raises BadInputError."""
        if value not in self.known:
            known = ", ".join(self.known)
            raise BadInputError(self.said.format(name=name, known=known, value=repr(str(value)[:40])))
        return cast(str, value)


@dataclass(frozen=True)
class Names(Kind):
    """Several names: a list, or a text with commas. said: the sentence for what is neither. optional: None stands for
    no names.
    """

    said: str = ""
    optional: bool = True
    what = "a list, or a text with commas"

    def read(self, value: Any, name: str) -> tuple[str, ...]:
        """Return the names without the spaces around them, and without empty ones. Raises BadInputError."""
        if isinstance(value, str):  # a client's list may come through a text box, as Python writes it
            value = value.strip("[]").replace("'", "").replace('"', "").split(",")
        value = () if value is None and self.optional else value
        if not isinstance(value, list | tuple) or any(isinstance(one, list | dict) for one in value):
            raise BadInputError(self.said.format(value=repr(value))) if self.said else self.other(value, name)
        return tuple(str(one).strip() for one in value if str(one).strip())


@dataclass(frozen=True)
class Read(Kind):
    """The result of a function of the value; the function raises BadInputError itself."""

    function: Callable[[Any], Any]

    def read(self, value: Any, name: str) -> Any:
        """Return the function's result."""
        return self.function(value)


def parse_heads(value: Any) -> tuple[Head, ...]:
    """Return (layer, head) pairs, each once, from a list of pairs or from "0.3, 2.11". Raises BadInputError."""
    meant = 'heads takes pairs of layer and head, such as [[0, 3], [2, 11]] or "0.3, 2.11".'
    value = _written(value) if isinstance(value, str) else () if value is None else value
    if not isinstance(value, list | tuple):
        raise BadInputError(meant)
    if len(value) > MOST_HEADS:
        raise BadInputError(f"heads takes at most {MOST_HEADS:,} pairs.")
    number, pairs = Whole(0, MOST_LAYERS), set()
    for entry in value:
        pair = entry.split(".") if isinstance(entry, str) else entry
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise BadInputError(meant)
        pairs.add((number.read(pair[0], "heads: layer"), number.read(pair[1], "heads: head")))
    return tuple(sorted(pairs))


def _written(value: str) -> list[Any]:
    """Return pairs from a text: "0.3, 2.11", or a list as a client's text box receives it."""
    if value.lstrip().startswith("["):
        numbers = re.findall(r"[^\[\](),\s]+", value)
        return [numbers[start : start + 2] for start in range(0, len(numbers), 2)]
    return [entry for entry in re.split(r"[,;\s]+", value.strip()) if entry]


def parse_lines(value: Any) -> tuple[str, ...]:
    """Return texts, one a line or as a list, without empty ones. Raises BadInputError.

    A client's list that came through a text box, written as Python writes it, becomes a list again.
    """
    if isinstance(value, str):
        listed = _as_list(value.strip())
        value = listed if listed is not None else re.split(r"\r\n|\r|\n", value)
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise BadInputError("Write the sentences one a line, or hand over a list of texts.")
    return tuple(entry.strip() for entry in value if entry.strip())


def _as_list(text: str) -> list[object] | None:
    # Checked before literal_eval, which is slow and may fail on a long text.
    if len(text) > LONGEST_LIST or not re.match(r"""\[\s*["']""", text) or not re.search(r"""["']\s*,?\s*\]$""", text):
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # a sentence in brackets and quotes, no list
        return None
    return value if isinstance(value, list) else None
