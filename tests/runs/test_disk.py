"""A disk that is full, or may not be written: the run says so, the lane goes on, and nothing is told that is not so."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, StorageError
from explorer.runs import manager as module
from explorer.runs.manager import RunManager
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RunStore
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.engine import executing, lanes
from tests.engine.executing import finished
from tests.engine.lanes import WAIT, Lane, no_model, running, start, until
from tests.engine.records import record

lane, make, runs = lanes.lane, lanes.make, lanes.runs
model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec


class Disk:
    """Takes what is written, or raises as a full one does."""

    def __init__(self, store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        write = store._database.write

        def writing(statement: str, values: object = ()) -> None:
            if self.full:
                raise StorageError("The list of runs could not be written: the server's disk is full.")
            write(statement, values)  # type: ignore[arg-type]

        monkeypatch.setattr(store._database, "write", writing)


@pytest.fixture
def disk(runs: RunManager, monkeypatch: pytest.MonkeyPatch) -> Disk:
    monkeypatch.setattr(module, "SETTLE_SECONDS", 0.01)
    return Disk(runs.store, monkeypatch)


def as_others_see(runs: RunManager, run_id: str) -> RunRecord | None:
    """The record as another process finds it on the disk."""
    other = RunStore(runs.store.folder.parent)
    try:
        return other.find(run_id)
    finally:
        other.close()


class TestFull:
    def test_the_run_fails_with_a_sentence_and_the_next_visitors_run_trains(
        self, runs: RunManager, lane: Lane, disk: Disk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = start(runs, "ada")
        until(lambda: running(runs, run))
        waiting = start(runs, "zed")
        disk.full = True
        monkeypatch.setattr(module, "KEEP_SECONDS", 0.0)
        lane.endings[run] = lambda one: one.evolve(step=2)
        lane.let_go()
        failed = runs.wait(run, WAIT)
        assert failed.status is RunStatus.FAILED
        assert "the server's disk is full" in failed.message
        assert runs.wait(waiting, WAIT).status is RunStatus.FAILED
        disk.full = False
        after = start(runs, "zed")
        lane.let_go()
        assert runs.wait(after, WAIT).status is RunStatus.DONE
        assert [one.status for one in runs.list("ada")] == [RunStatus.FAILED]

    def test_what_the_disk_did_not_take_is_written_once_it_does(self, runs: RunManager, lane: Lane, disk: Disk) -> None:
        run = start(runs)
        until(lambda: running(runs, run))
        disk.full = True
        lane.let_go()
        assert runs.wait(run, WAIT).status is RunStatus.DONE
        assert [one.status for one in runs.list("ada")] == [RunStatus.DONE]
        on_disk = as_others_see(runs, run)
        assert on_disk is not None
        assert on_disk.status is RunStatus.RUNNING
        disk.full = False
        until(lambda: as_others_see(runs, run) == runs.get(run))

    def test_it_can_be_resumed_and_deleted(self, runs: RunManager, lane: Lane, disk: Disk) -> None:
        run = start(runs)
        until(lambda: running(runs, run))
        disk.full = True
        runs.stop(run, "ada")
        assert runs.wait(run, WAIT).status is RunStatus.STOPPED
        with pytest.raises(StorageError, match="disk is full"):
            runs.resume(run, "ada")
        assert runs.get(run).status is RunStatus.STOPPED
        disk.full = False
        runs.resume(run, "ada")
        until(lambda: lane.began == [run, run])
        disk.full = True
        runs.stop(run, "ada")
        runs.wait(run, WAIT)
        runs.delete(run, "ada")
        assert runs.list("ada") == []
        with pytest.raises(BadInputError, match="No run is called"):
            runs.get(run)
        disk.full = False
        until(lambda: as_others_see(runs, run) is None)

    def test_one_that_waits_can_be_stopped(self, runs: RunManager, lane: Lane, disk: Disk) -> None:
        first = start(runs)
        until(lambda: running(runs, first))
        waiting = start(runs)
        disk.full = True
        runs.stop(waiting, "ada")
        assert runs.get(waiting).status is RunStatus.CANCELLED
        disk.full = False

    @pytest.mark.parametrize("error", [OSError(28, "No space left on device"), SystemExit(1), KeyError("x")])
    def test_whatever_breaks_a_run_leaves_the_lane(self, runs: RunManager, lane: Lane, error: BaseException) -> None:
        def break_down(one: RunRecord) -> RunRecord:
            raise error

        run, after = start(runs), start(runs)
        lane.endings[run] = break_down
        lane.let_go(2)
        failed = runs.wait(run, WAIT)
        assert failed.status is RunStatus.FAILED
        assert failed.message.endswith(".")
        assert ("disk is full" in failed.message) == isinstance(error, OSError)
        assert runs.wait(after, WAIT).status is RunStatus.DONE


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)]
    if mount is None or subprocess.run([mount, *options], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until the disk takes no more."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 4096)


def test_on_a_real_disk_that_fills_while_a_run_trains(
    small_disk: Path, settings: Settings, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    from explorer.tasks.sources import keep_upload

    small = replace(settings, data_folder=small_disk)
    file = settings.data_folder.parent / "cats.tsv"
    keep_upload(file, small)
    engine = LocalEngine(small)
    runs = engine.runs
    done = finished(engine, spec)
    assert done.status is RunStatus.DONE
    filler = small_disk / "filler"
    fill(filler)
    with pytest.raises(StorageError, match="disk is full"):
        runs.start(spec, "ada")
    assert runs.store.owned_by("ada") == [done]
    runs.delete(done.run_id, "ada")
    assert runs.store.owned_by("ada") == []
    filler.unlink()
    monkeypatch.setattr(module, "KEEP_SECONDS", 0.0)
    run = runs.start(replace(spec, epochs=200), "ada")
    until(lambda: runs.get(run).step > 0)
    fill(filler)
    failed = runs.wait(run, WAIT)
    assert failed.status is RunStatus.FAILED
    assert "could not be written: the server's disk is full" in failed.message
    assert not list(runs.store.folder.glob("*/*.part"))
    assert not runs.get(run).status.is_active
    filler.unlink()
    runs.resume(run, "ada")
    until(lambda: runs.get(run).status is RunStatus.RUNNING)
    runs.stop(run, "ada")
    assert not runs.wait(run, WAIT).status.is_active
    runs.delete(run, "ada")
    assert as_others_see(runs, run) is None


class TestReadOnly:
    """Everything in the data folder's place is refused, by a file that stands where the folder should be."""

    @pytest.fixture
    def closed(self, settings: Settings, tmp_path: Path) -> Settings:
        (tmp_path / "closed").write_text("no folder", encoding="utf-8")
        return replace(settings, data_folder=tmp_path / "closed")

    def test_examples_are_there_and_a_start_says_what_is_wrong(
        self, closed: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = LocalEngine(closed)
        assert [one.run_id for one in engine.runs.list("ada")][:1] == ["example-lora-8"]
        assert engine.runs.get("example-lora-8").status is RunStatus.DONE
        with pytest.raises(StorageError, match=r"list of runs \(runs/runs.sqlite\) could not be (read|written)"):
            engine.runs.start(RunSpec("bert-mini"), "ada")
        with pytest.raises(StorageError, match=r"runs/runs.sqlite\) could not be read"):
            engine.runs.get("r0123456789ab")
        (closed.data_folder).unlink()
        store = engine.runs.store
        store.save(record())
        assert [one.run_id for one in store.owned_by("ada")] == ["r0123456789ab"]

    def test_what_was_kept_is_read_from_a_folder_that_may_not_be_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import sqlite3

        from explorer.runs import database

        store = RunStore(tmp_path)
        store.save(record())
        store.close()
        connect = database._connect

        def refusing(name: str) -> sqlite3.Connection:
            if "immutable" not in name:
                raise sqlite3.OperationalError("attempt to write a readonly database")
            return connect(name)

        monkeypatch.setattr(database, "_connect", refusing)
        again = RunManager(RunStore(tmp_path), Settings(), lambda *_: None, no_model)
        assert again.list("ada") == [record()]
        with pytest.raises(StorageError, match="may not use its data folder"):
            again.store.save(record())


def test_a_job_of_an_example_needs_no_data_folder(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("no folder", encoding="utf-8")
    engine = LocalEngine(replace(settings, data_folder=tmp_path / "closed"))
    job = Job("tests.runs.test_local:count", on="runs")
    from tests.runs.test_local import AskMany

    assert engine.follow(job, AskMany(("example-lora-8",))).last.result(WAIT) == 1
