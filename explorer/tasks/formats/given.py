"""The input and the output of a format's reader."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.tasks.task import Example, Task

HELD_NAME = "The validation file"


@dataclass(frozen=True)
class Given:
    """One or two files that a visitor has uploaded, as text.

    name: of the task that they make. title: the first file's. task: the slug of the GLUE task whose layout the visitor
    says they have, or None. validation: the second file's text, or None if a fifth is to be held out.
    """

    name: str
    title: str
    text: str
    validation: str | None = None
    task: str | None = None


@dataclass(frozen=True)
class Content:
    """The contents of the files. notes: what was skipped or mended, in sentences."""

    task: Task
    train: tuple[Example, ...]
    validation: tuple[Example, ...] | None
    notes: tuple[str, ...] = ()
