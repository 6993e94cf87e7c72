"""What a client has sent as an action's parameters: of the right kinds, or refused in a sentence that names the parameter."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from explorer.errors import BadInputError
from explorer.text import encodable


def parameters(kind: type, values: dict[str, Any]) -> Any:
    """A `kind`, the dataclass that an action takes, of the values by name. Raises BadInputError.

    Numbers and their ranges are the dataclass's to check; here a list or an object where one value belongs is refused, and
    what cannot be encoded is replaced.
    """
    if hasattr(kind, "__pydantic_fields__"):
        return kind(**values)
    kinds = {field.name: str(field.type) for field in fields(kind)}
    empty = {field.name for field in fields(kind) if field.default == ""}
    values = {name: "" if value is None and name in empty else encodable(value) for name, value in values.items()}
    for name, value in values.items():
        expected = kinds.get(name, "")
        if isinstance(value, dict) or (isinstance(value, list) and expected in _SINGLE):
            raise BadInputError(f"{name} must be {_said(expected)}; got {_called(value)}.")
    try:
        made = kind(**values)
        hash(made)
    except (TypeError, AttributeError) as error:
        odd = [name for name, value in values.items() if not _fits(kinds.get(name, ""), value)]
        if not odd:
            raise
        raise BadInputError(f"{odd[0]} must be {_said(kinds[odd[0]])}; got {_called(values[odd[0]])}.") from error
    for name, expected in kinds.items():
        value = getattr(made, name, "")
        if expected == "str" and not isinstance(value, str):
            raise BadInputError(f"{name} must be a text; got {_called(value)}.")
    return made


_SINGLE = {"str": "a text", "str | None": "a text", "bool": "true or false", "int": "a number", "float": "a number"}


def _said(expected: str) -> str:
    return _SINGLE.get(expected, "a list, or a text with commas" if "tuple" in expected else "a name or a number")


def _fits(expected: str, value: Any) -> bool:
    if "tuple" in expected:
        plain = isinstance(value, str) or value is None
        return plain or (isinstance(value, list | tuple) and not any(isinstance(one, list | dict) for one in value))
    return expected not in ("str", "str | None") or isinstance(value, str | None)


def _called(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", type(None): "nothing"}
    return kinds.get(type(value)) or repr(value)[:40]
