"""What goes along with a question or a run to another machine, and what comes back with an answer: records and files.

Where all machines see one data folder (EXPLORER_FILES is empty), its files are there already and nothing of it travels; what a
visitor has brought, and what is made to be taken home, lies elsewhere and always does.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from explorer.engine.call_job import flat
from explorer.engine.cluster.files import Files, Manifest
from explorer.engine.sent import needed
from explorer.models.trained import made_by, own_folder
from explorer.runs.manager import RunManager
from explorer.runs.record import RunRecord
from explorer.runs.store import RESUME
from explorer.settings import Settings
from explorer.shelf import trim
from explorer.tasks.places import uploads
from explorer.tuning.files.zips import EXPORTS

_HUB_ID = re.compile(r"[\w.-]{1,96}(/[\w.-]{1,96})?")


@dataclass(frozen=True)
class Parcel:
    """What goes along. data: files below the data folder. hub: files below the hub's cache. given: what a visitor has brought,
    as (name, digest) by the parameter that is its path.
    """

    records: tuple[RunRecord, ...] = ()
    data: Manifest = field(default_factory=dict)
    hub: Manifest = field(default_factory=dict)
    given: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Brought:
    """A result or a record with files. data: below the data folder. exports: below EXPORTS, which is `place` over there."""

    result: Any
    data: Manifest = field(default_factory=dict)
    exports: Manifest = field(default_factory=dict)
    place: str = ""


def files_of(settings: Settings) -> Files:
    """Where this installation's machines hand each other files. Raises ExplorerError where it cannot be used."""
    return Files(settings.files or str(settings.data_folder / "files"))


class Sender:
    """Packs and unpacks at the front, whose data folder has everything."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.files = settings, files_of(settings)
        self._resumes: dict[str, str] = {}
        """The checkpoints of runs that train, by their digests."""

    def question(self, runs: RunManager, model: str, params: Any) -> Parcel:
        """For a question about what its model and parameters name."""
        records = needed(runs, model, params)
        given = {
            one.name: (value.name, self.files.put(value))
            for one in fields(params)
            if isinstance(value := getattr(params, one.name), Path)
        }
        if not self._settings.files:
            return Parcel(tuple(records), given=given)
        named = {model, *flat([getattr(params, one.name) for one in fields(params)])}
        named |= {text for record in records for text in (record.spec.task, record.spec.model)}
        wanted = [path for record in records for path in self._kept(runs, record) if not path.name.startswith(RESUME)]
        return self._parcel(records, wanted, named, given)

    def run(self, runs: RunManager, record: RunRecord) -> Parcel:
        """For a run that is to train, with its checkpoint."""
        records = [record, *needed(runs, record.spec.model, record.spec)]
        if not self._settings.files:
            return Parcel(tuple(records))
        named = {text for one in records for text in (one.spec.task, one.spec.model)}
        wanted = [path for one in records for path in self._kept(runs, one) if one is record or path.name != RESUME]
        return self._parcel(records, wanted, named, {})

    def _parcel(
        self, records: Iterable[RunRecord], wanted: Iterable[Path], named: set[Any], given: dict[str, tuple[str, str]]
    ) -> Parcel:
        texts = [text for text in named if isinstance(text, str)]
        folder = self._settings.data_folder
        kept = [folder / "uploads" / match[1] for text in texts if (match := uploads.NAME.fullmatch(text))]
        return Parcel(
            tuple(records),
            self.files.pack(folder, [*wanted, *kept]),
            self.files.pack(self._settings.hub_cache, [path for text in texts for path in self._of_hub(text)]),
            given,
        )

    def _kept(self, runs: RunManager, record: RunRecord) -> Iterator[Path]:
        """What is in a run's folder, unless it is a bundled one's, which every machine has."""
        folder = runs.folder_of(record.run_id)
        if folder.is_relative_to(self._settings.data_folder) and folder.is_dir():
            yield from folder.iterdir()

    def _of_hub(self, text: str) -> list[Path]:
        """A hub model's folders in the cache; a machine finds it there without asking the hub."""
        if not _HUB_ID.fullmatch(text):
            return []
        model = self._settings.hub_cache / f"models--{text.replace('/', '--')}"
        return [folder for name in ("refs", "snapshots") if (folder := model / name).is_dir()]

    def unpacked(self, news: Any) -> Any:
        """A result, once the files that came with it are here."""
        if not isinstance(news, Brought):
            return news
        self.files.unpack(self._settings.data_folder, news.data)
        self.files.unpack(EXPORTS, news.exports)
        for digest in news.exports.values():  # it has been handed over
            self.files.remove(digest)
        return _moved(news.result, news.place) if news.exports else news.result

    def take(self, run_id: str, manifest: Manifest) -> None:
        """Have the folder of a run that trains as it is over there; the checkpoint before this one is let go."""
        folder = self._settings.data_folder / "runs" / run_id
        self.files.unpack(self._settings.data_folder, manifest)
        here = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part"]
        for path in here:
            if path.relative_to(self._settings.data_folder).as_posix() not in manifest:
                path.unlink(missing_ok=True)
        before, now = self._resumes.pop(run_id, ""), manifest.get(f"runs/{run_id}/{RESUME}", "")
        if now:
            self._resumes[run_id] = now
        if before and before not in self._resumes.values():
            self.files.remove(before)

    def tidy(self) -> None:
        """Keep what lies between the machines within the limit of all runs."""
        self.files.trim(self._settings.runs_bytes)


class Receiver:
    """Unpacks and packs on a machine that works. data_folder: this machine's own, or the one that all see."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.files = settings, files_of(settings)
        self._lock = threading.Lock()

    def open(self, parcel: Parcel) -> None:
        """Have here what came along. What was used longest ago goes where room is needed."""
        if not self.settings.files:  # the folder is the front's, which has rules of its own
            return
        with self._lock:
            self.files.unpack(self.settings.data_folder, parcel.data)
            self.files.unpack(self.settings.hub_cache, parcel.hub)
            for used in {"/".join(name.split("/")[:2]) for name in parcel.data}:
                os.utime(self.settings.data_folder / used)
            trim((self.settings.data_folder / "runs").glob("*/"), self.settings.runs_bytes)
            trim((self.settings.data_folder / "uploads").glob("*/"), self.settings.uploads_bytes)

    @contextmanager
    def given(self, parcel: Parcel, params: Any) -> Iterator[Any]:
        """The parameters, with paths of this machine where a visitor has brought something."""
        if not parcel.given:
            yield params
            return
        folder = Path(mkdtemp(prefix="given-"))
        try:
            for name, digest in parcel.given.values():
                self.files.fetch(digest, folder / name)
            yield replace(params, **{one: folder / name for one, (name, _) in parcel.given.items()})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def may_pack(self, result: Any) -> bool:
        """Whether there may be files to a result, which takes a while to find out."""
        return bool(self.settings.files or _paths(result))

    def packed(self, result: Any, model: str, parcel: Parcel) -> Any:
        """A result, with the files that were made for it and did not come along."""
        data: Manifest = {}
        if self.settings.files:
            made = own_folder(model, self.settings) if made_by(model) else None
            of_run = self.settings.data_folder / "runs" / result.run_id if isinstance(result, RunRecord) else None
            data = self.files.pack(self.settings.data_folder, [folder for folder in (made, of_run) if folder])
            data = {name: digest for name, digest in data.items() if parcel.data.get(name) != digest}
        exports = self.files.pack(EXPORTS, [path for path in map(Path, _paths(result).values()) if path.is_file()])
        return Brought(result, data, exports, str(EXPORTS)) if data or exports else result

    def while_training(self, run_id: str) -> Callable[[RunRecord], Any]:
        """Packs what has changed in a run's folder since its last record."""
        sent: Manifest = {}

        def packed(record: RunRecord) -> Any:
            nonlocal sent
            now = self.files.pack(self.settings.data_folder, [self.settings.data_folder / "runs" / run_id])
            if now == sent:
                return record
            sent = now
            return Brought(record, now)

        return packed if self.settings.files else lambda record: record


def _paths(result: Any, place: str = str(EXPORTS)) -> dict[str, str]:
    """The values of a result that are paths below `place`, by their fields; the result itself has no name."""
    values = {one.name: getattr(result, one.name) for one in fields(result)} if is_dataclass(result) else {"": result}
    return {name: value for name, value in values.items() if isinstance(value, str) and value.startswith(place)}


def _moved(result: Any, place: str) -> Any:
    """A result whose paths below `place` are here below EXPORTS."""
    paths = {name: str(EXPORTS) + path.removeprefix(place) for name, path in _paths(result, place).items()}
    return paths[""] if "" in paths else replace(result, **paths)
