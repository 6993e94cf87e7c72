"""What is written beside a run, on a real disk that is full, and everything on one that is read-only."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, StorageError
from explorer.runs.record import RunStatus
from explorer.settings import Settings
from explorer.tasks.sources import keep_text, keep_upload
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.runs import test_disk
from tests.runs.test_disk import fill
from tests.runs.test_local import Ask

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
ASK = Job("tests.runs.test_local:ask", on="runs")
no_examples, small_disk = executing.no_examples, test_disk.small_disk


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """The same folder where nothing can be written, not even by root."""
    view = folder.parent / "read-only"
    view.mkdir()
    subprocess.run(["mount", "--bind", str(folder), str(view)], check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(view)], check=True)
        yield view
    finally:
        subprocess.run(["umount", "-l", str(view)], check=True)


@pytest.fixture
def engine(small_disk: Path, settings: Settings, task: str) -> LocalEngine:
    """An engine that keeps everything on the small disk, the task too."""
    small = replace(settings, data_folder=small_disk)
    keep_upload(settings.data_folder.parent / "cats.tsv", small)
    return LocalEngine(small)


def test_uploads_are_refused_with_the_reason_and_leave_nothing(small_disk: Path) -> None:
    table = small_disk.parent / "other.tsv"
    table.write_text(
        "\n".join(["sentence\tlabel", *(f"the cat sat {n}\t{n % 2}" for n in range(40))]), encoding="utf-8"
    )
    small = replace(Settings(), data_folder=small_disk)
    fill(small_disk / "filler")
    before = {path for path in small_disk.rglob("*") if path.is_file()}
    for refused in (
        lambda: keep_upload(table, small),
        lambda: keep_text(" ".join(f"Cat {n} sat on the mat." for n in range(40)), small),
    ):
        with pytest.raises(BadInputError, match="disk is full"):
            refused()
    assert {path for path in small_disk.rglob("*") if path.is_file()} <= before
    (small_disk / "filler").unlink()
    assert keep_upload(table, small).name


def test_of_a_read_only_disk_what_is_kept_is_read_and_what_is_new_is_refused(
    engine: LocalEngine, small_disk: Path, spec: RunSpec
) -> None:
    done, runs = finished(engine, spec), engine.runs
    going = runs.start(replace(spec, epochs=200), "ada")
    test_disk.until(lambda: runs.get(going).step > 0)
    runs.stop(going, "ada")
    stopped = runs.wait(going, WAIT)
    assert stopped.status is RunStatus.STOPPED
    runs.store.close()
    with read_only(small_disk) as view:
        closed = LocalEngine(replace(Settings(), device="cpu", offline=True, data_folder=view))
        assert {one.run_id: one.status for one in closed.runs.list("ada")} == {
            done.run_id: RunStatus.DONE,
            going: RunStatus.STOPPED,
        }
        assert len(closed.follow(ASK, Ask(done.run_id)).last.result(WAIT)) == 2
        for refused in (lambda: closed.runs.start(spec, "ada"), lambda: closed.runs.resume(going, "ada")):
            with pytest.raises(StorageError, match="may not use its data folder"):
                refused()
        for kept in (done.run_id, going):
            with pytest.raises(StorageError, match="This run could not be deleted: this server may not"):
                closed.runs.delete(kept, "ada")
        assert {one.run_id for one in closed.runs.list("ada")} == {done.run_id, going}
        assert len(closed.follow(ASK, Ask(done.run_id)).last.result(WAIT)) == 2
        assert closed.runs.get(going).status is RunStatus.STOPPED
        subprocess.run(["mount", "-o", "remount,rw,bind", str(view)], check=True)
        again = closed.runs.start(spec, "ada")
        assert closed.runs.wait(again, WAIT).status is RunStatus.DONE, "it needs no restart"
        closed.runs.store.close()
    runs.resume(going, "ada")
    test_disk.until(lambda: runs.get(going).step > stopped.step)
    runs.stop(going, "ada")
    assert not runs.wait(going, WAIT).status.is_active
