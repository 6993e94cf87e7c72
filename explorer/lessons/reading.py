"""Reads a lesson from YAML, safely and with the line of a mistake, and checks its addresses against the pages that there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
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

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The safe one in C, where PyYAML has it: ten times as quick, and ten files are read when the app starts."""

USE = "use"
"""The key by which a step is that of another lesson, by its number: `use: both-sides/2`."""


class LessonError(BadInputError):
    """A lesson's file has a mistake; the sentence names its line."""


def read(text: str, step_of: Callable[[str], Step] | None = None) -> Lesson:
    """Return the lesson that a YAML text describes. step_of: returns the step that `use` names. Raises LessonError."""
    if len(text) > LONGEST_FILE:
        raise LessonError(f"A lesson has at most {LONGEST_FILE:,} characters, and this one has {len(text):,}.")
    try:
        loader = _Loader(text)
        tree = loader.get_single_node()
        # An alias could stand for a text many times over, so that a short file becomes a huge one.
        if tree is not None and _has_aliases(tree):
            raise LessonError("A lesson must be written without aliases (*name).")
        data = loader.construct_document(tree) if tree is not None else None
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


def _has_aliases(tree: Any) -> bool:
    """Return whether any part of a tree stands in it twice."""
    seen, left = set(), [tree]
    while left:
        node = left.pop()
        if id(node) in seen:
            return True
        seen.add(id(node))
        if not isinstance(node, yaml.ScalarNode):
            left += [part for one in node.value for part in (one if isinstance(one, tuple) else (one,))]
    return False


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
    lessons: dict[str, Lesson] = {}

    def step_of(name: str) -> Step:
        """Return the step of a lesson that comes before, by its name and number: "both-sides/2"."""
        stem, _, number = str(name).partition("/")
        return lessons[stem].steps[int(number) - 1]

    for path in sorted(FOLDER.glob("*.yaml")):
        lessons[path.stem.partition("-")[2]] = read(path.read_text(encoding="utf-8"), step_of)
    return lessons


def checked(lesson: Lesson, addresses: Mapping[str, Any]) -> Lesson:
    """Return a lesson all of whose steps open. addresses: the pages' explorer.ui.address.Address, by slug.

    Raises BadInputError with the first step that doesn't, and why.
    """
    for number, step in enumerate(lesson.steps, start=1):
        said = wrong(step.at, addresses)
        if said:
            raise BadInputError(f"Step {number}, “{step.title}”: {said}")
    return lesson


def wrong(at: str, addresses: Mapping[str, Any]) -> str:
    """Return why an address doesn't open as it says, or ""."""
    before, _, fragment = at.partition("#")
    slug, _, query = before.partition("?")
    if slug.removeprefix("./") not in addresses:
        return f"There is no page “{slug[:40]}”; the home page's list has all pages."
    strange = [name for name, _ in parse_qsl(query) if name != "run"]
    if strange:
        return f"Before the # only run= may stand, not {strange[0][:40]}=."
    return " ".join(addresses[slug.removeprefix("./")].refused(fragment))
