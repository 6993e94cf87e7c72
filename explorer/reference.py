"""What each action does, takes and gives, in words: for the terminal, the pages of the API and the tools of assistants.

Nothing is written down twice. What an action does is the docstring of its job, which is read and not imported, since jobs
import torch; what its table holds is the docstring of the function that makes it; what a parameter is stands at its
declaration, below it, or as "name: …" in the docstring of its class.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from explorer.action import Action, LiveAction
from explorer.kinds import Kind, Name
from explorer.params import Declared, Shown, declared

SHARED = {
    "model": "a name of the list, a Hugging Face hub id, or a folder of this machine",
    "visitor": "a name of your own; the runs that are started under it are listed under it",
    "text": "what the model reads",
    "sentence_a": "the text",
    "sentence_b": "a second text, where a pair is meant",
    "position": "of a token, from 0; without one a telling token is chosen",
    "heads": 'pairs of layer and head, from 0, such as "0.3, 2.11"',
    "top_k": "so many of the likeliest tokens",
    "task": "a bundled task, one of the hub, or a file that was uploaded",
    "methods": "fine-tuning methods; none for every one that the model can have",
    "models": "several models",
    "run": "its id, as `runs` lists it; the bundled worked examples are among them",
    "run_a": "one run's id",
    "run_b": "the other run's id",
    "run_student": "the student's run, once it has been trained",
    "runs": "several runs' ids",
    "teacher": "the run that a student learns from",
    "soft_loss": "how the student's distribution is compared with the teacher's",
    "soft_weight": "of the loss against the teacher's distribution",
    "hard_weight": "of the loss against the labels",
    "cosine_weight": "of the loss between hidden states",
    "branch": "ids of tokens that follow the text before the continuation begins",
    "file": "by gradio_client's handle_file, or from an assistant its content (data:text/csv;base64,…); a link (https://…) only "
    "where the server fetches links",
    "matrix": "counts, a list of rows: [[3, 1], [0, 2]]",
    "points": "pairs of numbers: [[0.5, 1], [4, 3.5]]",
}
"""The meaning of a name wherever it is used, for parameters that no page labels."""


PLAIN = ("a text", "true or false")
"""Kinds that a schema's type tells as well."""


@dataclass(frozen=True)
class Parameter:
    """One parameter in words. accepts: its type and bounds. several: whether it takes a list. default: MISSING if it
    must be given.
    """

    name: str
    about: str
    accepts: str
    default: Any
    kind: Kind
    several: bool = False

    @property
    def said(self) -> str:
        """What the parameter is and what it accepts, in one paragraph."""
        accepts = "" if self.accepts in PLAIN else self.accepts
        return f"{self.about} {accepts[:1].upper()}{accepts[1:]}." if accepts else self.about


@dataclass(frozen=True)
class Reference:
    """One action in words. summary: a line. about: all that its job's docstring says. columns: of its table, with units."""

    name: str
    summary: str
    about: str
    columns: str
    parameters: dict[str, Parameter]


@cache
def reference(action: Action | LiveAction) -> Reference:
    """Return what an action does, takes and returns. Imports nothing heavy."""
    source = action.source if isinstance(action, LiveAction) else action.job
    said = _docstring(source if isinstance(source, str) else source.function)
    about = _without_errors(said) or _without_errors(action.params.__doc__ or "")
    names = declared(action.params)
    if action.takes_model and "model" not in names:
        names = {"model": Declared(None, Name(), Shown("model")), **names}
    parameters = {name: _parameter(action.params, name, field) for name, field in names.items()}
    return Reference(action.name, _sentences(about)[0], about, _paragraph(action.table.__doc__ or ""), parameters)


def shared(name: str) -> str:
    """Return a sentence for a parameter that means the same wherever it is used, or ""."""
    note = SHARED.get(name, "")
    return _sentence(note[:1].upper() + note[1:])


def _parameter(params: type, name: str, field: Declared) -> Parameter:
    shown = field.shown
    title = "" if shown.title == name else shown.title
    note = _notes(params).get(name) or ("" if title else SHARED.get(name, ""))
    about = f"{title}: {note}" if title and note else title or note[:1].upper() + note[1:]
    annotation = str(getattr(cast(Any, params).__pydantic_fields__.get(name), "annotation", ""))
    words = " ".join(filter(None, (_sentence(about), shown.info)))
    several = annotation.startswith("tuple[")
    accepts = field.kind.accepts or ("a list" if several else "")
    return Parameter(name, words, accepts, field.default, field.kind, several)


@cache
def _notes(params: type) -> dict[str, str]:
    """Return what a class and its bases say of single fields: below them, or as "name: …" or "name, name: …"."""
    notes: dict[str, str] = {}
    for kind in reversed(params.__mro__[:-1]):  # from the base classes down, so that a class overrides them
        marks = _NOTE.finditer(_flat(kind.__doc__ or ""))
        found = [mark for mark in marks if set(mark[1].split(", ")) <= set(declared(params))]
        notes.update(_fields_docstrings(kind.__module__).get(kind.__name__, {}))
        for mark, after in itertools.zip_longest(found, found[1:]):
            said = mark.string[mark.end() : after.start() if after else None].strip(" ;,.")
            notes.update(dict.fromkeys(mark[1].split(", "), said))
    return notes


_NOTE = re.compile(r"(?<![^ ])((?:[a-z_]+, )*[a-z_]+): ")


def _docstring(function: str) -> str:
    """Return the docstring of `module:name`, without importing the module."""
    module, name = function.split(":")
    return _docstrings(module).get(name, "")


@cache
def _docstrings(module: str) -> dict[str, str]:
    return {node.name: ast.get_docstring(node) or "" for node in _nodes(module) if isinstance(node, ast.FunctionDef)}


@cache
def _fields_docstrings(module: str) -> dict[str, dict[str, str]]:
    """Return the strings below fields, by class and field."""
    found: dict[str, dict[str, str]] = {}
    for kind in (node for node in _nodes(module) if isinstance(node, ast.ClassDef)):
        for field, below in itertools.pairwise(kind.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(below, ast.Expr)
                and isinstance(below.value, ast.Constant)
            ):
                found.setdefault(kind.name, {})[ast.unparse(field.target)] = _paragraph(str(below.value.value))
    return found


_PARSING = threading.Lock()
"""Python 3.11's parser counts its depth for the whole process: two threads at once end in a SystemError."""


def _nodes(module: str) -> list[ast.stmt]:
    place = importlib.util.find_spec(module)
    assert place is not None
    assert place.origin is not None
    with _PARSING:
        return ast.parse(Path(place.origin).read_text(encoding="utf-8")).body


def _without_errors(docstring: str) -> str:
    """Return a docstring without the sentences on what it raises."""
    return " ".join(one for one in _sentences(_flat(docstring)) if not one.startswith(("Raises ", "Raise ")))


def _sentences(text: str) -> list[str]:
    """Split a text at every full stop that a capital follows, except after abbreviations and initials."""
    return re.split(r"(?<=[^A-Z.][.])(?<!al\.) (?=[A-ZφΔδ`])", text)


def _paragraph(docstring: str) -> str:
    """Return the first paragraph, on one line."""
    return _flat(docstring.strip().partition("\n\n")[0])


def _flat(text: str) -> str:
    return " ".join(text.split())


def _sentence(text: str) -> str:
    """Return a text with a full stop, unless it ends like a sentence."""
    return text if not text or text[-1] in ".?!" else f"{text}."


def all_of(actions: Iterable[Action | LiveAction]) -> dict[str, Reference]:
    """Return every action's reference, by the action's name."""
    return {action.name: reference(action) for action in actions}
