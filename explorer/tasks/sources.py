"""Tasks by their names, wherever they come from: the app, the hub (GLUE, SQuAD, E2E), or a visitor's file."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from threading import Lock

from explorer.errors import BadInputError
from explorer.settings import Settings
from explorer.tasks.formats.e2e import E2E
from explorer.tasks.formats.text import LONGEST_PASTED, TEXT, TITLE
from explorer.tasks.places import bundled, hub, uploads
from explorer.tasks.task import CLASSES, TaskCard, TaskData

KEPT_IN_MEMORY = 16
_SLUG = re.compile(r"[a-z0-9]+")
_LOCKS = tuple(Lock() for _ in range(32))


def load(name: str, settings: Settings) -> TaskData:
    """Return the task of this name: "sst2", "text" (bundled), "sst2@hub", "squad@hub", "e2e@hub" or "file-0123456789ab"
    (kept by keep_upload).

    It is read once and shared by all who ask: never change it. Raises BadInputError for a name that is none of these,
    and TaskUnavailableError if the hub has to be asked and cannot be.
    """
    _check(name)
    with _LOCKS[hash(name) % len(_LOCKS)]:  # a class that asks at once reads a large task once, not thirty times
        return _load(name, settings)


def card(name: str, settings: Settings) -> TaskCard:
    """Describe a task without reading its examples; the hub's files are fetched. Raises as `load` does."""
    _check(name)
    if uploads.NAME.fullmatch(name):
        return uploads.card(name, settings)
    return hub.card(name, settings) if name.endswith(hub.MARK) else bundled.card(name)


def _check(name: object) -> None:
    if not isinstance(name, str) or not (uploads.NAME.fullmatch(name) or _SLUG.fullmatch(name.removesuffix(hub.MARK))):
        raise BadInputError(f"{str(name)[:60]!r} is no task. Choose one from the list, or upload a file.")


@lru_cache(maxsize=KEPT_IN_MEMORY)
def _load(name: str, settings: Settings) -> TaskData:
    if uploads.NAME.fullmatch(name):
        return uploads.load(name, settings)
    return hub.load(name, settings) if name.endswith(hub.MARK) else bundled.load(name)


def choices(settings: Settings) -> list[tuple[str, str]]:
    """Return (label, name) for a list to choose from: the bundled tasks, then the hub's, offline only those that are here."""
    return bundled.choices() + hub.choices(settings)


def written_choices(settings: Settings) -> list[tuple[str, str]]:
    """Return the choices among tasks that put meanings into words."""
    return [(title, name) for title, name in choices(settings) if name.removesuffix(hub.MARK) == E2E.slug]


def kind_of(name: object, settings: Settings) -> str:
    """Return the kind of task with this name (Task.kind), without asking the hub; CLASSES for an unknown name."""
    if isinstance(name, str) and name.endswith(hub.MARK):
        release = hub.RELEASES.get(name.removesuffix(hub.MARK))
        return release.task.kind if release else CLASSES
    try:
        return card(str(name), settings).task.kind
    except BadInputError:
        return CLASSES


def keep_upload(
    path: Path | str,
    settings: Settings,
    task_slug: str | None = None,
    validation_path: Path | str | None = None,
    visitor: str = "",
) -> TaskData:
    """Check a visitor's file, keep it, and return its task, which load() finds by its name from then on.

    task_slug: the GLUE task whose layout the file has, or "text" for one without labels; None finds out, and reads any
    other table by its columns' names. visitor: whose files it counts among. validation_path: its validation split;
    without one a fifth is held out. Raises BadInputError with the line and what is wrong with it.
    """
    upload = uploads.open_upload(Path(path), task_slug, Path(validation_path) if validation_path else None)
    data = uploads.read_upload(upload)
    uploads.keep(upload, data, settings, visitor)
    return data


def keep_text(text: object, settings: Settings) -> TaskData:
    """Check and keep a text that a visitor has pasted, as keep_upload does. Raises BadInputError if it is too short or
    too long.
    """
    if not isinstance(text, str) or not text.strip():
        raise BadInputError("The text is empty. Paste some sentences, or leave the box empty for the bundled ones.")
    if len(text) > LONGEST_PASTED:
        raise BadInputError(
            f"This text has {len(text):,} characters, and at most {LONGEST_PASTED:,} are taken. Cut it shorter."
        )
    upload = uploads.Upload(TITLE, text.replace("\0", " ").encode("utf-8", "replace"), None, TEXT.slug)
    data = uploads.read_upload(upload)
    uploads.keep(upload, data, settings)
    return data
