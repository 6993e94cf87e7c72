"""What travels with a question or a run to another machine, and comes back with an answer: records and files.

If all machines see one data folder (EXPLORER_FILES is empty), its files need not travel. A visitor's own files, and
files that are made for download, lie elsewhere and always travel.
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

from explorer.engine.cluster.files import Files, Manifest
from explorer.engine.resources import flat
from explorer.engine.sent import needed
from explorer.models.catalog import made_by, own_folder
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
    """What travels with a question. data: files below the data folder. hub: files below the hub's cache. given: the
    visitor's own files, as (name, digest) by the parameter that holds the path.
    """

    records: tuple[RunRecord, ...] = ()
    data: Manifest = field(default_factory=dict)
    hub: Manifest = field(default_factory=dict)
    given: dict[str, tuple[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Brought:
    """A result or a record with files. data: below the data folder. exports: below EXPORTS, which is `place` on the
    machine that made them.
    """

    result: Any
    data: Manifest = field(default_factory=dict)
    exports: Manifest = field(default_factory=dict)
    place: str = ""


def files_of(settings: Settings) -> Files:
    """Return the store through which this installation's machines hand each other files. Raises ExplorerError if it
    cannot be used.
    """
    return Files(settings.files or str(settings.data_folder / "files"))


class Sender:
    """Packs and unpacks at the front, whose data folder has everything."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.files = settings, files_of(settings)
        self._resumes: dict[str, str] = {}
        """The digest of the last checkpoint of each run that trains."""

    def question(self, runs: RunManager, model: str, params: Any) -> Parcel:
        """Pack the runs, models and files that a question's model and parameters name."""
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
        # A question reads no checkpoint.
        wanted = [path for record in records for path in self._kept(runs, record) if not path.name.startswith(RESUME)]
        return self._parcel(records, wanted, named, given)

    def run(self, runs: RunManager, record: RunRecord) -> Parcel:
        """Pack what a run needs to train, with its last checkpoint."""
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
        """Yield the files in a run's folder, except for a bundled run, which every machine has."""
        folder = runs.folder_of(record.run_id)
        if folder.is_relative_to(self._settings.data_folder) and folder.is_dir():
            yield from folder.iterdir()

    def _of_hub(self, text: str) -> list[Path]:
        """Return the folders of a hub model in the cache, so that a machine finds it there without asking the hub."""
        if not _HUB_ID.fullmatch(text):
            return []
        model = self._settings.hub_cache / f"models--{text.replace('/', '--')}"
        return [folder for name in ("refs", "snapshots") if (folder := model / name).is_dir()]

    def unpacked(self, news: Any) -> Any:
        """Return a result, once the files that came with it are on this machine."""
        if not isinstance(news, Brought):
            return news
        self.files.unpack(self._settings.data_folder, news.data)
        self.files.unpack(EXPORTS, news.exports)
        for digest in news.exports.values():  # it has been handed over
            self.files.remove(digest)
        return _moved(news.result, news.place) if news.exports else news.result

    def take(self, run_id: str, manifest: Manifest) -> None:
        """Make the folder of a run that trains equal to the one on the machine that trains it."""
        folder = self._settings.data_folder / "runs" / run_id
        self.files.unpack(self._settings.data_folder, manifest)
        here = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".part"]
        for path in here:
            if path.relative_to(self._settings.data_folder).as_posix() not in manifest:
                path.unlink(missing_ok=True)
        before, now = self._resumes.pop(run_id, ""), manifest.get(f"runs/{run_id}/{RESUME}", "")
        if now:
            self._resumes[run_id] = now
        # The checkpoint before this one is removed from the store, unless it is another run's as well: equal files
        # are one.
        if before and before not in self._resumes.values():
            self.files.remove(before)

    def tidy(self) -> None:
        """Trim the files between the machines to the limit of all runs."""
        self.files.trim(self._settings.runs_bytes)


class Receiver:
    """Unpacks and packs on a machine that computes. data_folder: this machine's own, or the one that all machines see."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.files = settings, files_of(settings)
        self._lock = threading.Lock()

    def open(self, parcel: Parcel) -> None:
        """Unpack the files of a parcel. Those used longest ago are removed if room is needed."""
        if not self.settings.files:  # the folder is the front's, which has rules of its own
            return
        with self._lock:
            self.files.unpack(self.settings.data_folder, parcel.data)
            self.files.unpack(self.settings.hub_cache, parcel.hub)
            for used in {"/".join(name.split("/")[:2]) for name in parcel.data}:
                # What was unpacked now was used last, so that it is not trimmed below.
                os.utime(self.settings.data_folder / used)
            trim((self.settings.data_folder / "runs").glob("*/"), self.settings.runs_bytes)
            trim((self.settings.data_folder / "uploads").glob("*/"), self.settings.uploads_bytes)

    @contextmanager
    def given(self, parcel: Parcel, params: Any) -> Iterator[Any]:
        """Yield the parameters, in which the paths of the visitor's own files are those on this machine."""
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
        """Return whether a result may have files: packing takes a while, and most results have none."""
        return bool(self.settings.files or _paths(result))

    def packed(self, result: Any, model: str, parcel: Parcel) -> Any:
        """Return a result with the files that were made for it and did not come with the question."""
        data: Manifest = {}
        if self.settings.files:
            made = own_folder(model, self.settings) if made_by(model) else None
            of_run = self.settings.data_folder / "runs" / result.run_id if isinstance(result, RunRecord) else None
            data = self.files.pack(self.settings.data_folder, [folder for folder in (made, of_run) if folder])
            data = {name: digest for name, digest in data.items() if parcel.data.get(name) != digest}
        exports = self.files.pack(EXPORTS, [path for path in map(Path, _paths(result).values()) if path.is_file()])
        return Brought(result, data, exports, str(EXPORTS)) if data or exports else result

    def while_training(self, run_id: str) -> Callable[[RunRecord], Any]:
        """Return a function that packs the files of a run's folder which have changed since its last record."""
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
    """Return the values of a result that are paths below `place`, by field; a result that is one string stands under ""."""
    values = {one.name: getattr(result, one.name) for one in fields(result)} if is_dataclass(result) else {"": result}
    return {name: value for name, value in values.items() if isinstance(value, str) and value.startswith(place)}


def _moved(result: Any, place: str) -> Any:
    """Return a result whose paths below `place` are replaced by those below EXPORTS on this machine."""
    paths = {name: str(EXPORTS) + path.removeprefix(place) for name, path in _paths(result, place).items()}
    return paths[""] if "" in paths else replace(result, **paths)
