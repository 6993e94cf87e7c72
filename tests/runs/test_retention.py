"""Room for runs and files: bounded in all and for each visitor, the oldest go first, and their owner is told."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer import shelf
from explorer.errors import BadInputError
from explorer.runs import retention as module
from explorer.runs.manager import RunManager
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.settings import Settings
from explorer.tuning.files import zips
from tests.engine import lanes
from tests.engine.lanes import WAIT, Lane, running, start, until
from tests.engine.records import record

lane, make = lanes.lane, lanes.make
Make = Callable[..., RunManager]


@pytest.fixture(autouse=True)
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOOKED_SECONDS", 0.0)


def kept(runs: RunManager, run_id: str, owner: str, created: float, size: int = 1000, **changes: Any) -> Path:
    """A run that has ended, with weights of `size` bytes."""
    runs.store.save(
        record(run_id, owner, status=RunStatus.DONE, created=created, snapshots=(1,), notes=("hers",), **changes)
    )
    folder = runs.store.folder_of(run_id)
    folder.mkdir(parents=True)
    (folder / WEIGHTS).write_bytes(b"x" * size)
    return folder


def with_weights(runs: RunManager) -> set[str]:
    return {path.parent.name for path in runs.store.folder.glob(f"*/{WEIGHTS}")}


def train_one(runs: RunManager, lane: Lane, owner: str = "zed") -> RunRecord:
    run = start(runs, owner)
    lane.let_go()
    return runs.wait(run, WAIT)


def come_to(runs: RunManager, *expected: str) -> None:
    """Wait until the weights that are left are these: the lane makes room after it has let a run go."""
    until(lambda: with_weights(runs) == set(expected))
    with runs._room._lock:  # what was removed has been written down
        assert with_weights(runs) == set(expected)


def test_the_oldest_weights_go_and_their_owner_is_told(make: Make, lane: Lane) -> None:
    runs = make(runs_bytes=2500)
    for number, owner in enumerate(("ada", "bob", "ada", "bob")):
        kept(runs, f"r-{number:06d}", owner, 100.0 + number)
    assert train_one(runs, lane).status is RunStatus.DONE
    come_to(runs, "r-000002", "r-000003")
    listed = {one.run_id: one for one in runs.list("ada")}
    gone = listed["r-000000"]
    assert gone.status is RunStatus.DONE
    assert gone.snapshots == ()
    assert gone.notes[0] == "hers"
    assert "Its weights were removed on" in gone.notes[1]
    assert "to make room" in gone.notes[1]
    assert listed["r-000002"].notes == ("hers",)


def test_one_visitor_does_not_cost_the_others_their_weights(make: Make, lane: Lane) -> None:
    runs = make(runs_bytes=100_000, visitor_runs_bytes=2500)
    kept(runs, "r-oldest", "bob", 1.0)
    for number in range(5):
        kept(runs, f"r-{number:06d}", "ada", 100.0 + number)
    train_one(runs, lane)
    come_to(runs, "r-oldest", "r-000003", "r-000004")
    assert "of one visitor's runs" in runs.get("r-000000").notes[1]


def test_what_trains_teaches_waits_or_is_looked_at_stays(
    make: Make, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = make(runs_bytes=0)
    running_one, waiting = kept(runs, "r-running", "ada", 1.0), kept(runs, "r-waiting", "ada", 2.0)
    for folder in (running_one, waiting):
        runs.store.save(record(folder.name, "ada", status=RunStatus.STOPPED, created=1.0))
        runs.resume(folder.name, "ada")
    until(lambda: running(runs, "r-running"))
    kept(runs, "r-looked", "bob", 3.0)
    kept(runs, "r-nobody", "bob", 4.0)
    monkeypatch.setattr(module, "LOOKED_SECONDS", 600.0)
    runs._room._looked.clear()
    runs.get("r-looked")
    with pytest.raises(BadInputError, match="take all of it"):
        start(runs, "zed")
    assert with_weights(runs) == {"r-running", "r-waiting", "r-looked"}


def test_folders_that_nobody_lists_go_first_but_not_while_they_are_made(make: Make, lane: Lane) -> None:
    runs = make(runs_bytes=1500)
    kept(runs, "r-000000", "ada", 1.0)
    for name, age in (("r-lost-one", 7200), ("r-being-made", 0)):
        folder = runs.store.folder / name
        folder.mkdir()
        (folder / WEIGHTS).write_bytes(b"x" * 1000)
        os.utime(folder, (time.time() - age, time.time() - age))
    train_one(runs, lane)
    come_to(runs, "r-000000", "r-being-made")


def test_the_list_has_an_end(make: Make, lane: Lane) -> None:
    runs = make(most_runs=3)
    for number in range(5):
        kept(runs, f"r-{number:06d}", "ada", 100.0 + number)
    train_one(runs, lane, "ada")
    come_to(runs, "r-000003", "r-000004")
    assert len(runs.store.oldest_first()) == 3


def test_the_shelf_removes_what_was_used_longest_ago(tmp_path: Path) -> None:
    now = time.time()
    for number in range(4):
        path = tmp_path / f"{number}"
        path.mkdir()
        (path / "file").write_bytes(b"x" * 100)
        os.utime(path, (now - 10_000 + number, now - 10_000 + number))
    os.utime(tmp_path / "0", (now, now))
    assert shelf.trim(tmp_path.iterdir(), 250, lambda entry: entry.name == "1") == [tmp_path / "2", tmp_path / "3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    assert shelf.trim(tmp_path.iterdir(), 0, lambda entry: entry.name == "1") == []
    os.utime(tmp_path / "0", (now + 7200, now + 7200))  # from before the clock was set back: who knows when that was
    assert shelf.trim(tmp_path.iterdir(), 0, lambda entry: entry.name == "1") == [tmp_path / "0"]


def test_exports_are_bounded_in_all_and_for_each_visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "EXPORTS", tmp_path)
    settings = Settings(exports_bytes=500, visitor_exports_bytes=250)
    old = time.time() - 10_000

    def export(owner: str, key: str, at: float) -> Path:
        path = zips.export_path(owner, key, "a.zip", settings)
        zips.write_zip(path, {"data": b"x" * 10})
        assert path.parent.stat().st_size
        os.utime(path.parent, (at, at))
        return path

    first = export("ada", "r1", old)
    size = first.stat().st_size
    bob = export("bob", "r9", old + 1)
    for number in range(2, 6):
        last = export("ada", f"r{number}", old + number)
    assert last.is_file()
    assert bob.is_file()
    assert not first.exists()
    assert sum(path.stat().st_size for path in tmp_path.glob("*/*/*")) <= 500 + size


def test_two_that_make_room_at_once_remove_nothing_twice(make: Make) -> None:
    runs = make(runs_bytes=2500)
    for number in range(6):
        kept(runs, f"r-{number:06d}", "ada", 100.0 + number)
    threads = [threading.Thread(target=runs._room.make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert with_weights(runs) == {"r-000004", "r-000005"}
    assert all(len(one.notes) <= 2 for one in runs.list("ada"))
