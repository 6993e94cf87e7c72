"""Reads a lesson from YAML: safely, and with the line of a mistake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import yaml
from pydantic import ValidationError

from explorer.errors import BadInputError
from explorer.lessons.schema import Lesson, Step
from explorer.settings import ROOT

LONGEST_FILE = 100_000
"""Characters of a lesson's file."""

FOLDER = ROOT / "assets" / "lessons"

USE = "use"
"""The key by which a step is that of another lesson, by its number: `use: both-sides/2`."""


class LessonError(BadInputError):
    """A lesson's file has a mistake; the sentence names its line."""


def read(text: str, step_of: Callable[[str], Step] | None = None) -> Lesson:
    """Return the lesson that a YAML text describes. step_of: returns the step that `use` names. Raises LessonError."""
    if len(text) > LONGEST_FILE:
        raise LessonError(f"A lesson has at most {LONGEST_FILE:,} characters, and this one has {len(text):,}.")
    try:
        # An alias could stand for a text many times over, so that a short file becomes a huge one.
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text)):
            raise LessonError("A lesson must be written without aliases (*name).")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise LessonError(f"Line {line} is no YAML: {error.problem}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise LessonError(f"This is no YAML: {' '.join(str(error).split())[:200].rstrip('.')}.") from None
    if not isinstance(data, dict):
        raise LessonError("A lesson begins with its title, as in “title: Why both sides”, and has steps.")
    if step_of is not None and isinstance(data.get("steps"), list):
        data["steps"] = [_used(one, step_of) for one in data["steps"]]
    return _checked(data, tree)


def _used(step: Any, step_of: Callable[[str], Step]) -> Any:
    """Return another lesson's step, with what is said of it anew, where a step names one."""
    if not isinstance(step, dict) or USE not in step:
        return step
    others = {name: value for name, value in step.items() if name != USE}
    return step_of(step[USE]).model_dump(exclude_defaults=True) | others


def _checked(data: Any, tree: Any) -> Lesson:
    try:
        return Lesson.model_validate(data)
    except ValidationError as error:
        where, said = explained(error)
        path, line = _line(tree, where)
        raise LessonError(f"Line {line}, {path}: {said}.") from None


def explained(error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Return where the mistake is and what it is; a name that isn't known explains one that is missing."""
    all_of = error.errors(include_url=False, include_input=False)
    first = next((one for one in all_of if one["type"] == "extra_forbidden"), all_of[0])
    words = {"extra_forbidden": "no part of a lesson has this name", "missing": "it is missing"}
    said = words.get(first["type"], first["msg"].removeprefix("Value error, "))
    return first["loc"], f"{said[:1].lower()}{said[1:]}"


def _line(tree: Any, path: Sequence[str | int]) -> tuple[str, int]:
    """Return what a mistake's path names, and the line on which that, or the nearest thing around it, stands."""
    node, line = tree, tree.start_mark.line + 1
    for part in path:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                break
            line, node = found[0][0].start_mark.line + 1, found[0][1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return " ".join(f"number {part + 1}" if isinstance(part, int) else part for part in path) or "the lesson", line


def written(lesson: Lesson) -> str:
    """Return a lesson as YAML that `read` reads back."""
    data = lesson.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=110)


def address_of(at: str, name: str, number: int) -> str:
    """Return a step's address with the lesson in it. number: of the step, from 1."""
    before, _, fragment = at.partition("#")
    parts = [*parse_qsl(fragment, keep_blank_values=True), ("lesson", name), ("lesson_step", str(number))]
    return f"{before or './'}#{urlencode(parts)}"


@cache
def bundled() -> dict[str, Lesson]:
    """Return the lessons that come with the app, by their files' names, in their order: single ones, then the two paths."""
    files = sorted(FOLDER.glob("*.yaml"))
    return {path.stem.partition("-")[2]: read(path.read_text(encoding="utf-8"), _step_of) for path in files}


def _step_of(name: str) -> Step:
    """Return the step of another bundled lesson, by its file's name and its number, from 1: "both-sides/2"."""
    stem, _, number = str(name).partition("/")
    return _steps(next(FOLDER.glob(f"*-{stem}.yaml")))[int(number) - 1]


@cache
def _steps(path: Path) -> tuple[Step, ...]:
    return read(path.read_text(encoding="utf-8"), _step_of).steps
