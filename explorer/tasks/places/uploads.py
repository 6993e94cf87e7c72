"""Visitors' files: read once to be checked, kept under a name made from their content, and found again by that name."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from explorer.errors import BadInputError
from explorer.settings import GIBIBYTE, Settings
from explorer.shelf import bytes_of, trim
from explorer.tasks.formats import format_of
from explorer.tasks.formats.text import HOLDS, SAVE, TEXT, UNIT
from explorer.tasks.given import HELD_NAME, Given, check_enough, mixed, shared_texts
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.read_file import decode, read_bytes, short_name
from explorer.tasks.task import Task, TaskCard, TaskData

NAME = re.compile(r"file-([0-9a-f]{12})")
_TRAIN, _VALIDATION, _ABOUT = "train", "validation", "about.json"
_PARTIAL = ".partial-"
_KEEPING = Lock()
_HELD: Counter[str] = Counter()
"""How many waiting or training runs learn from each upload."""


def hold(name: str) -> None:
    """Keep an upload on the disk while a run needs it; names of other tasks are ignored."""
    if NAME.fullmatch(name):
        with _KEEPING:
            _HELD[name] += 1


def let_go(name: str) -> None:
    """End a hold on an upload."""
    if NAME.fullmatch(name):
        with _KEEPING:
            _HELD[name] -= 1
            if _HELD[name] <= 0:
                del _HELD[name]


@dataclass(frozen=True)
class Upload:
    """One or two files as they arrived. title: the first one's name. task: the GLUE task that the visitor named, or TEXT's."""

    title: str
    train: bytes
    validation: bytes | None
    task: str | None

    @property
    def name(self) -> str:
        """`file-` and the first 12 hex digits of a SHA-256: the file's own, if it came alone and without a task."""
        digest = hashlib.sha256(self.train)
        if self.validation is not None or self.task is not None:
            digest.update(f"\0{self.task or ''}\0".encode() + hashlib.sha256(self.validation or b"").digest())
        return f"file-{digest.hexdigest()[:12]}"


def open_upload(path: Path, task_slug: str | None = None, validation_path: Path | None = None) -> Upload:
    """Take files from where they arrived. Raises BadInputError if one is missing or too large."""
    if task_slug is not None and task_slug != TEXT.slug:
        find_task(task_slug)
    validation = read_bytes(validation_path) if validation_path is not None else None
    return Upload(short_name(path.name), read_bytes(path), validation, task_slug)


def read_upload(upload: Upload) -> TaskData:
    """Return the task that an upload makes. Raises BadInputError with the line of what is wrong."""
    given = _as_text(upload)
    form = format_of(given)
    content = form.read(given)
    task, train, validation, notes = content.task, content.train, content.validation, list(content.notes)
    check_enough(task, train, upload.title)
    if validation is None:
        train, validation = form.hold_out(content, upload.title)
        unit = UNIT if task.masked else "examples"
        notes.append(f"{len(validation):,} of {len(content.train):,} {unit} are held out for validation.")
    elif not validation:
        raise BadInputError(f"{HELD_NAME} holds no examples. Write an example on each line below the header.")
    elif copies := shared_texts(train, validation):
        notes.append(
            f"{copies:,} of {len(validation):,} validation texts are also in the training file: the metric flatters."
        )
    return TaskData(task, upload.name, mixed(train), {"validation": mixed(validation)}, tuple(notes))


def _as_text(upload: Upload) -> Given:
    words = (SAVE, HOLDS) if upload.task == TEXT.slug else ()
    validation = None if upload.validation is None else decode(upload.validation, HELD_NAME, *words)
    return Given(upload.name, upload.title, decode(upload.train, upload.title, *words), validation, upload.task)


def keep(upload: Upload, data: TaskData, settings: Settings, visitor: str = "") -> None:
    """Write an upload to its folder, which appears whole or not at all; one that is there already is left alone.

    data: the task that it makes, of which a card is kept beside it. visitor: the visitor in whose share it counts.
    Uploads that were used longest ago are removed if room is needed. Raises BadInputError if that is not enough or the
    disk does not take it.
    """
    folder = _folder(upload.name, settings)
    whose = hashlib.sha256(visitor.encode("utf-8", "replace")).hexdigest()[:8] if visitor else ""
    try:
        with _KEEPING:
            if not folder.is_dir():
                folder.parent.mkdir(parents=True, exist_ok=True)
                _make_room(upload, folder.parent, settings, whose)
                _write(upload, data, folder, whose)
            os.utime(folder)  # used now, so that it is not the next to be removed
    except OSError as error:
        raise BadInputError(
            f"{upload.title} could not be kept: this server may not write to its data folder, or its disk is full. A "
            "bundled task needs neither."
        ) from error


def card(name: str, settings: Settings) -> TaskCard:
    """Return the task that an upload makes, from its card. Raises BadInputError as `find` does."""
    folder = _used(name, settings)
    try:
        kept = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))["card"]
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in kept["task"].items()
        }
        return TaskCard(Task(**fields), name, tuple(kept["notes"]))
    except (OSError, ValueError, LookupError, TypeError):  # damaged, or kept before there were cards
        data = read_upload(find(name, settings))
        return TaskCard(data.task, name, data.notes)


def load(name: str, settings: Settings) -> TaskData:
    """Return the task that an upload makes, with its examples. Raises BadInputError as `find` does."""
    return read_upload(find(name, settings))


def find(name: str, settings: Settings) -> Upload:
    """Return an upload that was kept earlier. Raises BadInputError for a name that is none or is no longer here."""
    folder = _used(name, settings)
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        held = folder / _VALIDATION
        validation = held.read_bytes() if held.is_file() else None
        return Upload(about["title"], (folder / _TRAIN).read_bytes(), validation, about["task"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadInputError(f"The file {name!r} on this server is damaged. Upload it again.") from error


def _used(name: str, settings: Settings) -> Path:
    """Return an upload's folder, and mark it as used now. Raises BadInputError if there is none."""
    folder = _folder(name, settings) if NAME.fullmatch(name) else None
    if folder is None or not folder.is_dir():
        raise BadInputError(
            f"The file {name[:40]!r} is not on this server: files that nobody uses are removed when room is needed. Upload it "
            "again."
        )
    with suppress(OSError):  # a folder that may not be written loses nothing anyway
        os.utime(folder)
    return folder


def _folder(name: str, settings: Settings) -> Path:
    return settings.data_folder / "uploads" / name.removeprefix("file-")


def _make_room(upload: Upload, shelf: Path, settings: Settings, whose: str) -> None:
    """Remove uploads used longest ago, of the visitor's and of all. Raises BadInputError if that does not suffice."""
    needed = len(upload.train) + len(upload.validation or b"")
    folders = [folder for folder in shelf.iterdir() if folder.is_dir()]
    own = [folder for folder in folders if whose and _whose(folder) == whose]
    for entries, limit in ((own, settings.visitor_uploads_bytes), (folders, settings.uploads_bytes)):
        trim(entries, limit - needed, lambda folder: f"file-{folder.name}" in _HELD)
        used = sum(bytes_of(folder) for folder in entries)
        if entries and used + needed > limit:
            raise BadInputError(
                f"This server's room for uploads is used up: it keeps {limit / GIBIBYTE:.2g} GB, and what is there was used a "
                "moment ago or is being learned from. Try again in a quarter of an hour."
            )


def _whose(folder: Path) -> str:
    try:
        return str(json.loads((folder / _ABOUT).read_text(encoding="utf-8")).get("visitor", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _write(upload: Upload, data: TaskData, folder: Path, whose: str) -> None:
    """Write beside the folder, then rename it in one step."""
    partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder.parent))
    try:
        (partial / _TRAIN).write_bytes(upload.train)
        if upload.validation is not None:
            (partial / _VALIDATION).write_bytes(upload.validation)
        card = {"task": asdict(data.task), "notes": data.notes}
        about = {"title": upload.title, "task": upload.task, "visitor": whose, "card": card}
        (partial / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
