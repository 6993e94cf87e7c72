"""Scripts without this package: files of assets/scripts, with a visitor's own values in place of their constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from explorer.engine.protocol import Engine
from explorer.models.catalog import find_card, trained_folder
from explorer.models.families import Architecture, by_family
from explorer.runs.record import RunRecord
from explorer.settings import ROOT, settings
from explorer.text import checked_text
from explorer.tuning.methods import find_method

SCRIPTS = ROOT / "assets" / "scripts"

WIDTH = 100
"""Characters of a line of values."""

HEADER = """\
# This imports nothing of the BERT Explorer. Save it anywhere, and run
# it from the Explorer's folder, the one with app.py, where the paths
# below lead to its models:
#     .venv/bin/python FILE
# Elsewhere it takes paths of your own, and
#     pip install {needs}
"""

WITHOUT_MODEL = """\
# This imports nothing of the BERT Explorer, and needs no model of it:
#     pip install {needs}
"""


@dataclass(frozen=True)
class Asked:
    """A question with its answer: `params` and `result` as the action's job has them."""

    engine: Engine
    model: str | None
    params: Any
    result: Any


CLASSES_OF: dict[str, tuple[str, ...]] = {"mask": (), "next": ("is_next", "not_next"), "continue": ()}
"""The questions (explorer.models.questions) that a script can put, by the head that transformers has a class for, with
the names of their classes; none for a vocabulary.
"""

Plain = Callable[[Asked], str]
"""Makes the script; an empty text if there is none for what was asked."""


def plain_script(
    name: str,
    values: Callable[[Asked], Mapping[str, Any]] | None = None,
    needs: str = "torch transformers",
    header: str = HEADER,
) -> Plain:
    """Return a function that fills in the script assets/scripts/<name>.py.

    Its constant MODEL becomes the model's place, and every constant with a parameter's name that parameter. values:
    further constants. needs: the packages that it imports. header: the lines above it.
    """

    def fill(asked: Asked) -> str:
        given = {field.name.upper(): as_read(getattr(asked.params, field.name)) for field in fields(asked.params)}
        if model := asked.model or given.get("MODEL"):
            given["MODEL"] = place_of(model)
        given |= values(asked) if values else {}
        return header.format(needs=needs) + filled(_template(name), given)

    return fill


def place_of(model: str) -> str:
    """Return where a script finds a model: a bundled one and a run's by their folders, any other by its id or its own
    folder.
    """
    card = find_card(model)
    if card is not None and card.bundled:
        return f"assets/models/{model}"
    made = trained_folder(model, settings())
    return _folder_place(made) if made else model


def run_place(asked: Asked, run_id: str) -> str:
    """Return a run's folder."""
    return _folder_place(asked.engine.runs.folder_of(run_id))


def _folder_place(folder: Path) -> str:
    """Return the path of a worked example below the Explorer's folder, any other's below ~ if it is in the home folder."""
    if folder.is_relative_to(ROOT):
        return folder.relative_to(ROOT).as_posix()
    return f"~/{folder.relative_to(Path.home()).as_posix()}" if folder.is_relative_to(Path.home()) else str(folder)


def is_lora(record: RunRecord) -> bool:
    """Return whether peft can put a run's factors beside W: those of PiSSA start elsewhere than at 0."""
    method = find_method(record.spec.method)
    return method.low_rank and not method.starts_elsewhere(record.spec)


def run_values(asked: Asked, record: RunRecord) -> dict[str, Any]:
    """Return the values that a script needs to put a run's classifier together.

    Empty for a score, for a family that is unknown, and for a method that is neither LoRA nor trains tensors of the
    model's own.
    """
    values = trained_values(asked, record) if record.labels else {}
    return {**values, "LABELS": record.labels} if values else {}


def trained_values(asked: Asked, record: RunRecord) -> dict[str, Any]:
    """Return the values for a run of any kind, without its classes."""
    spec, family = record.spec, architecture_of(asked, record.spec.model)
    if family is None or not (is_lora(record) or find_method(spec.method).whole_tensors):
        return {}
    layers = family.layers
    return {
        "MODEL": place_of(spec.model),
        "WEIGHTS": f"{run_place(asked, record.run_id)}/weights.safetensors",
        "IS_LORA": is_lora(record),
        "RANK": spec.rank,
        "ALPHA": spec.alpha,
        "RSLORA": spec.variant == "rslora",
        "DORA": spec.variant == "dora",
        "TARGETS": layers.pattern(layers.matrices(spec.targets).values()),
    }


def architecture_of(asked: Asked, model: str | None = None) -> Architecture | None:
    """Return the family of the model that answered, or of another one; None if it is no longer known."""
    family = asked.engine.status(model or str(asked.model)).family
    return by_family(family) if family else None


def as_read(value: Any) -> Any:
    """Return a text as the jobs hand it to a tokenizer, without control characters; anything else unchanged."""
    return checked_text(value) if isinstance(value, str) and value.strip() else value


def filled(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with the values of its top-level constants replaced; those that `values` does not name stay.

    Every value is written as a literal. Raises TypeError for one that has none.
    """
    lines = template.splitlines(keepends=True)
    for name, first, start, last, end in _constants(template):
        if name in values:
            # Ast counts columns in bytes.
            before, after = lines[first].encode()[:start].decode(), lines[last].encode()[end:].decode()
            lines[first : last + 1] = [before + literal(values[name]) + after]
    return "".join(lines)


@lru_cache(maxsize=512)
def _constants(template: str) -> Sequence[tuple[str, int, int, int, int]]:
    """Return a template's top-level constants from the last to the first: name, and first and last line and byte of the
    value.

    Cached, since every answer has its script: reading them anew took as long as the rest of an answer's way to the
    page.
    """
    found = []
    # Reversed: replacing a later one leaves the places of earlier ones valid.
    for node in reversed(ast.parse(template).body):
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name) and target.id.isupper():
            value = node.value
            last, end = value.end_lineno or value.lineno, value.end_col_offset or 0
            found.append((target.id, value.lineno - 1, value.col_offset, last - 1, end))
    return tuple(found)


def literal(value: Any) -> str:
    """Return a value as Python writes it, so that no text can leave its quotes; a long one takes several lines. Raises
    TypeError.
    """
    text = _flat(value)
    if len(text) > WIDTH and isinstance(value, (tuple, list, dict)):
        text = f"{text[0]}\n{_in_lines(_entries(value))}{text[-1]}"
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise TypeError(f"{type(value).__name__} has no literal")
    return text


def _flat(value: Any) -> str:
    """Return a value on one line, with double quotes if nothing in a text has to be escaped."""
    if isinstance(value, str):
        plain = value.isprintable() and not set(value) & set('"\\')
        return f'"{value}"' if plain else repr(value)
    if not isinstance(value, (tuple, list, dict)):
        return repr(value)
    brackets = "()" if isinstance(value, tuple) else "[]" if isinstance(value, list) else "{}"
    comma = "," if isinstance(value, tuple) and len(value) == 1 else ""
    return f"{brackets[0]}{', '.join(_entries(value))}{comma}{brackets[1]}"


def _entries(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{_flat(name)}: {_flat(entry)}" for name, entry in value.items()]
    return [_flat(entry) for entry in value]


def _in_lines(entries: list[str]) -> str:
    """Join entries into lines, as many a line as fit."""
    lines = [""]
    for entry in entries:
        if lines[-1] and len(lines[-1]) + len(entry) > WIDTH:
            lines.append("")
        lines[-1] += f"{' ' if lines[-1] else '    '}{entry},"
    return "".join(f"{line}\n" for line in lines)


@cache
def _template(name: str) -> str:
    return (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
