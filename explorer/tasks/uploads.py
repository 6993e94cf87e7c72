"""Visitors' files: read once to be checked, kept under a name made from what they hold, and found again by that name."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from explorer.errors import BadInputError
from explorer.settings import GIBIBYTE, Settings
from explorer.shelf import bytes_of, trim
from explorer.tasks.e2e import e2e_task, looks_like_e2e, read_e2e
from explorer.tasks.glue_files import GlueFile, read_glue, recognise
from explorer.tasks.glue_tasks import find_task
from explorer.tasks.opening import decode, read_bytes, short_name
from explorer.tasks.plain_text import HOLDS, SAVE, TEXT, read_text
from explorer.tasks.separated import read_separated
from explorer.tasks.splitting import check_enough, hold_out, mixed, shared_texts
from explorer.tasks.squad import hold_out_contexts, looks_like_squad, read_squad, squad_task
from explorer.tasks.task import NO_ANSWER, SPAN, Example, Task, TaskData

NAME = re.compile(r"file-([0-9a-f]{12})")
HELD_NAME = "The validation file"
_TRAIN, _VALIDATION, _ABOUT = "train", "validation", "about.json"
_PARTIAL = ".partial-"
_KEEPING = Lock()
_HELD: Counter[str] = Counter()
"""How many runs that wait or train learn from an upload."""


def hold(name: str) -> None:
    """Have an upload stay while a run needs it; other tasks' names are none of this shelf's business."""
    if NAME.fullmatch(name):
        with _KEEPING:
            _HELD[name] += 1


def let_go(name: str) -> None:
    """The counterpart of hold."""
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
        """`file-` and the first 12 hex digits of a SHA-256: the file's own, where it came alone and without a task."""
        digest = hashlib.sha256(self.train)
        if self.validation is not None or self.task is not None:
            digest.update(f"\0{self.task or ''}\0".encode() + hashlib.sha256(self.validation or b"").digest())
        return f"file-{digest.hexdigest()[:12]}"


def open_upload(path: Path, task_slug: str | None = None, validation_path: Path | None = None) -> Upload:
    """Take files from where they arrived; raises BadInputError if one is missing or too large."""
    if task_slug is not None and task_slug != TEXT.slug:
        find_task(task_slug)
    validation = read_bytes(validation_path) if validation_path is not None else None
    return Upload(short_name(path.name), read_bytes(path), validation, task_slug)


def read_upload(upload: Upload) -> TaskData:
    """The task that an upload makes; raises BadInputError with the line of what is wrong."""
    if upload.task == TEXT.slug:
        return read_text(decode(upload.train, upload.title, SAVE, HOLDS), upload.title, upload.name)
    text = decode(upload.train, upload.title)
    other = None if upload.validation is None else decode(upload.validation, HELD_NAME)
    task, train, validation, notes = _read(upload, text, other)
    check_enough(task, train, upload.title)
    if validation is None:
        everything = len(train)
        train, validation = _held_out(task, train, upload.title)
        notes.append(f"{len(validation):,} of {everything:,} examples are held out for validation.")
    elif not validation:
        raise BadInputError(f"{HELD_NAME} holds no examples. Write an example on each line below the header.")
    elif copies := shared_texts(train, validation):
        notes.append(
            f"{copies:,} of {len(validation):,} validation texts are also in the training file: the metric flatters."
        )
    return TaskData(task, upload.name, mixed(train), {"validation": mixed(validation)}, tuple(notes))


Parts = tuple[Task, tuple[Example, ...], tuple[Example, ...] | None, list[str]]


def _read(upload: Upload, text: str, other: str | None) -> Parts:
    """By what the file holds: SQuAD's JSON, E2E's meanings, one of GLUE's tasks, or a table of a visitor's own."""
    if not upload.task and looks_like_squad(text):
        return _read_squad(upload, text, other)
    if not upload.task and looks_like_e2e(text):
        meanings = e2e_task(upload.name, upload.title)
        return meanings, read_e2e(text, upload.title), None if other is None else read_e2e(other, HELD_NAME), []
    glue = upload.task or recognise(text)
    return _read_glue(upload, text, other, glue) if glue else _read_own(upload, text, other)


def _held_out(task: Task, examples: tuple[Example, ...], name: str) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Training and validation: a fifth of the texts, of questions that of the texts they are about."""
    return hold_out_contexts(examples, name) if task.kind == SPAN else hold_out(examples, bool(task.labels), name)


def _read_squad(upload: Upload, text: str, other: str | None) -> Parts:
    files = [read_squad(text, upload.title), *([] if other is None else [read_squad(other, HELD_NAME)])]
    none = sum(example.label == NO_ANSWER for example in files[0].examples)
    notes = [f"Read as SQuAD's JSON: {none:,} of {len(files[0].examples):,} questions have no answer.", *files[0].notes]
    task = squad_task(upload.name, upload.title, "A visitor's own file.")
    return task, files[0].examples, files[1].examples if other is not None else None, notes


def _read_glue(upload: Upload, text: str, other: str | None, slug: str) -> Parts:
    files: list[GlueFile] = [read_glue(text, slug, upload.title)]
    if other is not None:
        files.append(read_glue(other, slug, HELD_NAME))
    task = find_task(slug)
    notes = [f"Read as a file of GLUE: {task.title}.", *(note for file in files for note in file.notes)]
    return task, files[0].examples, files[1].examples if other is not None else None, notes


def _read_own(upload: Upload, text: str, other: str | None) -> Parts:
    table = read_separated(text, upload.title)
    validation = None if other is None else read_separated(other, HELD_NAME, like=table).examples
    texts = " and ".join(short_name(name) or "(no name)" for name in table.texts)
    kind = f"{len(table.classes)} classes" if table.classes else "a score"
    notes = [f"Text: {texts}. Label: {short_name(table.label) or '(no name)'}, {kind}."]
    return table.task(upload.name, upload.title), table.examples, validation, notes


def keep(upload: Upload, settings: Settings, visitor: str = "") -> None:
    """Write an upload to its folder, which appears whole or not at all; one that is there already stays as it is.

    visitor: whose uploads it is counted among. Those that were used longest ago are removed where room is needed. Raises
    BadInputError if that is not enough or the disk does not take it.
    """
    folder = _folder(upload.name, settings)
    whose = hashlib.sha256(visitor.encode("utf-8", "replace")).hexdigest()[:8] if visitor else ""
    try:
        with _KEEPING:
            if not folder.is_dir():
                folder.parent.mkdir(parents=True, exist_ok=True)
                _make_room(upload, folder.parent, settings, whose)
                _write(upload, folder, whose)
            os.utime(folder)
    except OSError as error:
        raise BadInputError(
            f"{upload.title} could not be kept: this server may not write to its data folder, or its disk is full. A "
            "bundled task needs neither."
        ) from error


def find(name: str, settings: Settings) -> Upload:
    """An upload that was kept earlier; raises BadInputError for a name that is none or is no longer here."""
    match = NAME.fullmatch(name)
    folder = _folder(name, settings) if match else None
    if folder is None or not folder.is_dir():
        raise BadInputError(
            f"The file {name[:40]!r} is not on this server: files that nobody uses are removed when room is needed. Upload it "
            "again."
        )
    with suppress(OSError):  # it is used now; a folder that may not be written loses nothing anyway
        os.utime(folder)
    try:
        about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        held = folder / _VALIDATION
        validation = held.read_bytes() if held.is_file() else None
        return Upload(about["title"], (folder / _TRAIN).read_bytes(), validation, about["task"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadInputError(f"The file {name!r} on this server is damaged. Upload it again.") from error


def _folder(name: str, settings: Settings) -> Path:
    return settings.data_folder / "uploads" / name.removeprefix("file-")


def _make_room(upload: Upload, shelf: Path, settings: Settings, whose: str) -> None:
    """Remove what was used longest ago, of the visitor's and of all; raises BadInputError if that does not suffice."""
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


def _write(upload: Upload, folder: Path, whose: str) -> None:
    """Write beside the folder, then give it its name in one step."""
    partial = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=folder.parent))
    try:
        (partial / _TRAIN).write_bytes(upload.train)
        if upload.validation is not None:
            (partial / _VALIDATION).write_bytes(upload.validation)
        about = {"title": upload.title, "task": upload.task, "visitor": whose}
        (partial / _ABOUT).write_text(json.dumps(about), encoding="utf-8")
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
