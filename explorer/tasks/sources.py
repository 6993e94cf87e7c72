"""Where a task's examples come from: the app, the hub (GLUE, SQuAD, E2E), or a visitor's file; each has a name."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from threading import Lock

from explorer.errors import BadInputError
from explorer.settings import BUNDLED_TASKS, Settings
from explorer.tasks import uploads
from explorer.tasks.e2e import E2E, bundled_e2e
from explorer.tasks.glue_files import read_glue
from explorer.tasks.glue_tasks import TASKS, bundled, find_task
from explorer.tasks.plain_text import LONGEST_PASTED, TEXT, TITLE, split_bundled
from explorer.tasks.squad import SQUAD, bundled_squad
from explorer.tasks.task import CLASSES, SPAN, WRITTEN, TaskData

HUB = "@hub"
KEPT_IN_MEMORY = 16
_SLUG = re.compile(r"[a-z0-9]+")
_LOCKS = tuple(Lock() for _ in range(32))


def load(name: str, settings: Settings) -> TaskData:
    """The task of this name: "sst2", "text" (bundled), "sst2@hub", "squad@hub", "e2e@hub" or "file-0123456789ab" (kept by
    keep_upload).

    Read once and shared by all who ask: never change it. Raises BadInputError for a name that is none of these, and
    TaskUnavailableError if the hub has to be asked and cannot be.
    """
    if not isinstance(name, str) or not (uploads.NAME.fullmatch(name) or _SLUG.fullmatch(name.removesuffix(HUB))):
        raise BadInputError(f"{str(name)[:60]!r} is no task. Choose one from the list, or upload a file.")
    with _LOCKS[hash(name) % len(_LOCKS)]:  # a class that asks at once reads a large task once, not thirty times
        return _load(name, settings)


def choices(settings: Settings) -> list[tuple[str, str]]:
    """(label, name) for a list to choose from: the bundled tasks, then the hub's, offline only those that are here."""
    from explorer.tasks import hub_e2e, hub_glue, hub_squad

    here = [(task.title, task.slug) for task in (*map(bundled, TASKS), SQUAD, E2E)]
    glue = [
        (f"{task.title} (GLUE from the hub)", f"{task.slug}{HUB}")
        for task in TASKS
        if not settings.offline or hub_glue.is_here(task.slug, settings)
    ]
    squad = [
        (f"{release.task.title} (from the hub)", f"{slug}{HUB}")
        for slug, release in hub_squad.RELEASES.items()
        if not settings.offline or hub_squad.is_here(slug, settings)
    ]
    e2e = [(f"{hub_e2e.TASK.title} (from the hub)", f"{E2E.slug}{HUB}")]
    return here + glue + squad + (e2e if not settings.offline or hub_e2e.is_here(settings) else [])


def written_choices(settings: Settings) -> list[tuple[str, str]]:
    """Those of meanings that are put into words."""
    return [(title, name) for title, name in choices(settings) if name.removesuffix(HUB) == E2E.slug]


def kind_of(name: object, settings: Settings) -> str:
    """What a task of this name teaches (Task.kind), without asking the hub; classes for a name that is none."""
    from explorer.tasks.hub_squad import RELEASES

    if isinstance(name, str) and name.endswith(HUB):
        slug = name.removesuffix(HUB)
        return SPAN if slug in RELEASES else WRITTEN if slug == E2E.slug else CLASSES
    try:
        return load(str(name), settings).task.kind
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

    task_slug: the GLUE task whose layout the file has, or "text" for one without labels; None finds out, and reads any other
    table by its columns' names.
    visitor: whose files it counts among.
    validation_path: its validation split; without one a fifth is held out. Raises BadInputError with the line and what is
    wrong with it.
    """
    upload = uploads.open_upload(Path(path), task_slug, Path(validation_path) if validation_path else None)
    data = uploads.read_upload(upload)
    uploads.keep(upload, settings, visitor)
    return data


def keep_text(text: object, settings: Settings) -> TaskData:
    """As keep_upload, for a text that a visitor has pasted. Raises BadInputError if it is too short or too long."""
    if not isinstance(text, str) or not text.strip():
        raise BadInputError("The text is empty. Paste some sentences, or leave the box empty for the bundled ones.")
    if len(text) > LONGEST_PASTED:
        raise BadInputError(
            f"This text has {len(text):,} characters, and at most {LONGEST_PASTED:,} are taken. Cut it shorter."
        )
    upload = uploads.Upload(TITLE, text.replace("\0", " ").encode("utf-8", "replace"), None, TEXT.slug)
    data = uploads.read_upload(upload)
    uploads.keep(upload, settings)
    return data


def read_bundled(slug: str) -> TaskData:
    """A bundled task, from files in GLUE's own layout; validation splits are called as on the hub."""
    task, folder = bundled(find_task(slug)), BUNDLED_TASKS / slug
    splits = sorted(folder.glob("validation*.tsv"))
    validation = {file.stem.removeprefix("validation_"): read_glue(file, slug).examples for file in splits}
    return TaskData(task, slug, read_glue(folder / "train.tsv", slug).examples, validation)


@lru_cache(maxsize=KEPT_IN_MEMORY)
def _load(name: str, settings: Settings) -> TaskData:
    if uploads.NAME.fullmatch(name):
        return uploads.read_upload(uploads.find(name, settings))
    if name == f"{E2E.slug}{HUB}":
        from explorer.tasks.hub_e2e import load_hub_e2e

        return load_hub_e2e(settings)
    if name.endswith(HUB):
        from explorer.tasks.hub_glue import load_hub_task
        from explorer.tasks.hub_squad import RELEASES, load_hub_squad

        slug = name.removesuffix(HUB)
        return (load_hub_squad if slug in RELEASES else load_hub_task)(slug, settings)
    if name == E2E.slug:
        return bundled_e2e()
    if name == SQUAD.slug:
        return bundled_squad()
    if name == TEXT.slug:
        return split_bundled(read_bundled(task.slug) for task in TASKS)
    return read_bundled(name)
