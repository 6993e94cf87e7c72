"""Scripts without this package: files of assets/scripts, with a visitor's own values in place of their constants."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from pprint import pformat
from typing import Any

from explorer.backend.executor import Executor
from explorer.models.architectures import Architecture, by_family
from explorer.models.catalog import find_card
from explorer.settings import ROOT
from explorer.text import checked_text

SCRIPTS = ROOT / "assets" / "scripts"

HEADER = """\
# Nothing of the BERT Explorer is imported: save this anywhere, and run it from the BERT Explorer's folder, the one with
# app.py, where the paths below lead to its models:
#     .venv/bin/python FILE
# Elsewhere `pip install {needs}` is enough, with paths of your own.
"""


@dataclass(frozen=True)
class Asked:
    """What a visitor asked, and what came: `params` and `result` as the action's job has them."""

    executor: Executor
    model: str | None
    params: Any
    result: Any


CLASSES_OF: dict[str, tuple[str, ...]] = {"mask": (), "next": ("is_next", "not_next"), "continue": ()}
"""The questions (explorer.models.questions) that a script puts, by the head that transformers has a class for, with the names
of their classes; none for a vocabulary."""

Plain = Callable[[Asked], str]
"""Makes the script; its text is empty where there is none for what was asked."""


def plain_script(
    name: str, values: Callable[[Asked], Mapping[str, Any]] | None = None, needs: str = "torch transformers"
) -> Plain:
    """The script assets/scripts/<name>.py, filled in.

    Its constant MODEL becomes the model's place, and every constant that is called like a parameter that parameter. values:
    further constants. needs: the packages that it imports.
    """

    def fill(asked: Asked) -> str:
        given = {field.name.upper(): as_read(getattr(asked.params, field.name)) for field in fields(asked.params)}
        if model := asked.model or given.get("MODEL"):
            given["MODEL"] = place_of(model)
        given |= values(asked) if values else {}
        return HEADER.format(needs=needs) + filled(_template(name), given)

    return fill


def place_of(model: str) -> str:
    """Where a script finds a model: a bundled one below the Explorer's folder, any other by its id or its own folder."""
    card = find_card(model)
    return f"assets/models/{model}" if card is not None and card.bundled else model


def run_place(asked: Asked, run_id: str) -> str:
    """A run's folder: a worked example's below the Explorer's folder, any other's below the home folder's ~ where it is."""
    folder = asked.executor.runs.folder_of(run_id)
    if folder.is_relative_to(ROOT):
        return folder.relative_to(ROOT).as_posix()
    return f"~/{folder.relative_to(Path.home()).as_posix()}" if folder.is_relative_to(Path.home()) else str(folder)


def architecture_of(asked: Asked) -> Architecture:
    """The family of the model that answered."""
    return by_family(str(asked.executor.status(str(asked.model)).family))


def as_read(value: Any) -> Any:
    """A text as the jobs hand it to a tokenizer, without control characters; anything else as it is."""
    return checked_text(value) if isinstance(value, str) and value.strip() else value


def filled(template: str, values: Mapping[str, Any]) -> str:
    """A template with the values of its top-level constants replaced; those that `values` does not name stay.

    Every value is written as a literal. Raises TypeError for one that has none.
    """
    lines = template.splitlines(keepends=True)
    for node in reversed(ast.parse(template).body):
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        name = node.targets[0].id
        if not name.isupper() or name not in values:
            continue
        first, last = node.value.lineno - 1, (node.value.end_lineno or node.value.lineno) - 1
        before = lines[first].encode()[: node.value.col_offset].decode()
        after = lines[last].encode()[node.value.end_col_offset :].decode()
        lines[first : last + 1] = [before + literal(values[name]) + after]
    return "".join(lines)


def literal(value: Any) -> str:
    """A value as Python writes it, so that no text can leave its quotes; what is long takes several lines."""
    text = repr(value) if isinstance(value, str) else pformat(value, width=110, compact=True, sort_dicts=False)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise TypeError(f"{type(value).__name__} has no literal")
    return text


@cache
def _template(name: str) -> str:
    return (SCRIPTS / f"{name}.py").read_text(encoding="utf-8")
