"""Keeps runs within the disk's limits: the weights of the oldest are removed, and the run stays listed and says so."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from explorer.errors import BadInputError, StorageError
from explorer.runs.record import RunStatus
from explorer.runs.store import RunStore
from explorer.settings import GIBIBYTE, Settings
from explorer.shelf import bytes_of, remove

LOOKED_SECONDS = 600.0
"""Seconds for which a run counts as in use after somebody asked for it."""

_MOST_LOOKED = 2000
_ORPHAN_SECONDS = 3600.0
"""Seconds after which a folder without a record is removed: until then it may be an import whose record comes yet."""


class _Kept(NamedTuple):
    """One run on the disk: its owner, and the bytes of its folder."""

    run_id: str
    owner: str
    size: int


class Room:
    """Keeps the runs of one store within the settings' limits. needed: returns whether a run trains, waits or teaches."""

    def __init__(self, store: RunStore, settings: Settings, needed: Callable[[str], bool]) -> None:
        self._store, self._settings, self._needed = store, settings, needed
        self._lock = threading.Lock()
        self._looked: OrderedDict[str, float] = OrderedDict()
        self._looking = threading.Lock()

    def look(self, run_id: object) -> None:
        """Note that somebody looks at a run, which then stays for a while."""
        with self._looking:
            self._looked[str(run_id)[:60]] = time.monotonic()  # a visitor may ask for any text, however long
            self._looked.move_to_end(str(run_id)[:60])
            while len(self._looked) > _MOST_LOOKED:
                self._looked.popitem(last=False)

    def _in_use(self, run_id: str) -> bool:
        with self._looking:
            looked = self._looked.get(run_id)
        return self._needed(run_id) or (looked is not None and time.monotonic() - looked < LOOKED_SECONDS)

    def make(self) -> int:
        """Remove the oldest weights until everybody's and each visitor's fit. Returns the bytes that are left.

        Runs beyond the number that may be listed are forgotten altogether, the oldest first. Raises StorageError if the
        list of runs cannot be read.
        """
        with self._lock:
            self._forget_oldest()
            kept = self._kept()
            everybody = sum(one.size for one in kept)
            of_owner: Counter[str] = Counter()
            for one in kept:
                of_owner[one.owner] += one.size
            for one in kept:
                own = of_owner[one.owner] > self._settings.visitor_runs_bytes and bool(one.owner)
                if (own or everybody > self._settings.runs_bytes) and not self._in_use(one.run_id):
                    self._empty(one, own)
                    everybody -= one.size
                    of_owner[one.owner] -= one.size
            return everybody

    def require(self) -> None:
        """Make room. Raises BadInputError if runs that train or are being looked at leave none."""
        limit = self._settings.runs_bytes
        if self.make() > limit:
            raise BadInputError(
                f"This server keeps {_gigabytes(limit)} of runs, and those that train or are being looked at take all of it. "
                "Delete a run that you no longer need, or try again later."
            )

    def _forget_oldest(self) -> None:
        runs = self._store.oldest_first()
        for run_id, _ in runs[: max(0, len(runs) - self._settings.most_runs)]:
            if not self._in_use(run_id):
                self._store.delete(run_id)

    def _kept(self) -> list[_Kept]:
        """List what has a folder: folders without a record first, then the oldest runs."""
        owners = dict(self._store.oldest_first())
        lost = [
            folder
            for folder in self._store.folder.iterdir()
            if folder.is_dir() and folder.name not in owners and time.time() - folder.stat().st_mtime > _ORPHAN_SECONDS
        ] if self._store.folder.is_dir() else []  # fmt: skip
        kept = [_Kept(folder.name, "", bytes_of(folder)) for folder in lost]
        kept += [_Kept(run_id, owner, bytes_of(self._store.folder / run_id)) for run_id, owner in owners.items()]
        return [one for one in kept if one.size]

    def _empty(self, one: _Kept, own: bool) -> None:
        """Remove a run's weights, checkpoint and snapshots, and note that in its record."""
        remove(self._store.folder / one.run_id)
        logging.getLogger("explorer").warning("removed the weights of run %s to make room", one.run_id)
        record = self._store.find(one.run_id) if one.owner else None
        if record is None or record.status is RunStatus.DAMAGED:
            return
        limit = self._settings.visitor_runs_bytes if own else self._settings.runs_bytes
        whose = "of one visitor's runs" if own else "of runs"
        said = (
            f"Its weights were removed on {time.strftime('%d %B %Y')} to make room: this server keeps {_gigabytes(limit)} "
            f"{whose}, and the oldest go first. Train it again to ask it something."
        )
        self._store.keep(replace(record.evolve(snapshots=()), notes=(*record.notes, said)))


def _gigabytes(size: int) -> str:
    return f"{size / GIBIBYTE:.2g} GB"


def quietly(room: Room) -> None:
    """Make room where nobody waits for an answer. Errors are logged: whoever asks for the list is told of them."""
    try:
        room.make()
    except (OSError, StorageError) as error:
        logging.getLogger("explorer").error("no room could be made: %s", error)
