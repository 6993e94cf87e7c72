"""Damaged files of runs: each is named in a sentence, the other runs and the examples work, and it can be deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError, StorageError
from explorer.runs.database import FILE, FOLDER
from explorer.runs.manager import LECTURER, RunManager
from explorer.runs.record import RunStatus
from explorer.runs.store import RESUME, WEIGHTS, RunStore
from explorer.settings import BUNDLED_RUNS, Settings
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.engine.lanes import no_model
from tests.engine.records import full_record, record
from tests.rows import each_row
from tests.runs.test_local import Ask

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine = executing.engine
ASK, UPDATES = (
    Job("tests.runs.test_local:ask", on="runs"),
    Job("tests.runs.test_local:updates", on="runs"),
)


def manager(folder: Path) -> RunManager:
    return RunManager(RunStore(folder, BUNDLED_RUNS), Settings(), lambda *_: None, no_model)


def spoil(folder: Path, run_id: str, text: object, column: str = "record") -> None:
    with sqlite3.connect(folder / "runs" / FILE) as database:
        database.execute(f"UPDATE runs SET {column} = ? WHERE run_id = ?", (text, run_id))


@each_row(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"run_id": "r-bad-one"}',
        b"\xff\xfe\x00",
        full_record(run_id="r-another").to_json(),
    ],
)
def test_a_bad_row_is_one_run_that_says_so_among_the_others(tmp_path: Path, text: object) -> None:
    runs = manager(tmp_path)
    for run_id in ("r-first", "r-bad-one", "r-third"):
        runs.store.save(record(run_id, status=RunStatus.DONE))
    spoil(tmp_path, "r-bad-one", text)
    for owner in ("ada", LECTURER):
        listed = {one.run_id: one for one in runs.list(owner)}
        assert [run for run in listed if run.startswith("r-")] == ["r-third", "r-bad-one", "r-first"]
        assert listed["r-bad-one"].status is RunStatus.DAMAGED
        assert "cannot be read" in listed["r-bad-one"].message
        assert "Delete this run" in listed["r-bad-one"].message
        assert "example-lora-8" in listed
    with pytest.raises(BadInputError, match="cannot be resumed"):
        runs.resume("r-bad-one", "ada")
    with pytest.raises(BadInputError, match="not yours"):
        runs.delete("r-bad-one", "bob")
    runs.stop("r-bad-one", "ada")
    runs.delete("r-bad-one", "ada")
    assert [one.run_id for one in runs.list("ada")][:2] == ["r-third", "r-first"]


def test_a_list_that_is_no_database_is_set_aside_and_said_to_be(tmp_path: Path) -> None:
    rubbish = bytes(range(1, 256)) * 80
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / FILE).write_bytes(rubbish)
    runs = manager(tmp_path)
    assert [one.run_id for one in runs.list("ada")][:1] == ["example-lora-8"]
    runs.store.save(record("r-after", status=RunStatus.DONE))
    assert runs.get("r-after").status is RunStatus.DONE
    (kept,) = (path for path in (tmp_path / "runs").iterdir() if path.name.startswith(f"{FILE}.damaged"))
    assert kept.read_bytes() == rubbish
    with pytest.raises(BadInputError, match=f"was damaged and is set aside as {kept.name}"):
        runs.get("r-before")
    runs.store.close()
    (tmp_path / "runs" / FILE).write_bytes(rubbish[::-1])
    again = manager(tmp_path)
    assert again.list("ada")
    assert kept.read_bytes() == rubbish
    assert len(list((tmp_path / "runs").glob(f"{FILE}.damaged*"))) == 2


def test_what_can_still_be_read_of_a_damaged_list_goes_on_in_the_new_one(tmp_path: Path) -> None:
    runs = manager(tmp_path)
    names = [f"r-{number:06d}" for number in range(60)]
    for name in names:
        runs.store.save(full_record(run_id=name))
    runs.store.close()
    shutil.rmtree(tmp_path / FOLDER)
    path = tmp_path / "runs" / FILE
    content = bytearray(path.read_bytes())
    content[-len(content) // 3 : -8192] = b"\xa5" * (len(content[-len(content) // 3 :]) - 8192)
    path.write_bytes(content)
    runs = manager(tmp_path)
    runs.list("ada")
    assert runs.store.set_aside
    listed = [one for one in runs.list("ada") if one.run_id in names]
    assert 5 < len(listed) < 60
    whole = [one for one in listed if one.status is not RunStatus.DAMAGED]
    assert len(whole) >= len(listed) - 1  # the last one that could be read may be cut
    assert all(one == full_record(run_id=one.run_id) for one in whole)
    runs.store.save(record("r-after"))
    assert runs.list("ada")[-1].run_id.startswith("example")
    assert (tmp_path / "runs" / runs.store.set_aside).read_bytes() == bytes(content)


def overwritten(first: int, last: int) -> Callable[[Path], object]:
    """The pages from one to another, as bytes."""
    return lambda path: path.write_bytes(
        path.read_bytes()[:first] + b"\xa5" * (last - first) + path.read_bytes()[last:]
    )


DAMAGES: dict[str, Callable[[Path], object]] = {
    "header": overwritten(0, 100),
    "first page": overwritten(0, 4096),
    "middle": overwritten(20_000, 60_000),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:30_000]),
    "emptied": lambda path: path.write_bytes(b""),
    "gone": Path.unlink,
}


@each_row("how", DAMAGES)
def test_a_list_is_made_again_from_the_copies_whatever_has_become_of_it(tmp_path: Path, how: str) -> None:
    runs = manager(tmp_path)
    kept = [full_record(run_id=f"r-{number:06d}", owner="ada" if number % 2 else "bob") for number in range(60)]
    for one in (*kept, full_record(run_id="r-deleted")):
        runs.store.save(one)
    runs.store.delete("r-deleted")
    runs.store.close()
    DAMAGES[how](tmp_path / "runs" / FILE)
    runs = manager(tmp_path)
    listed = {one.run_id: one for one in runs.list(LECTURER) if one.run_id.startswith("r-")}
    assert listed == {one.run_id: one for one in kept}
    assert {one.run_id for one in runs.list("bob")} >= {one.run_id for one in kept if one.owner == "bob"}
    runs.store.close()
    with sqlite3.connect(tmp_path / "runs" / FILE) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_damaged_copy_costs_no_other_run(tmp_path: Path) -> None:
    runs = manager(tmp_path)
    for run_id in ("r-first", "r-other", "r-third"):
        runs.store.save(full_record(run_id=run_id))
    runs.store.close()
    (tmp_path / FOLDER / "r-first.json").write_bytes(b"\xff\x00{")
    (tmp_path / FOLDER / "r-other.json").write_text('{"owner": "ada"}')
    (tmp_path / "runs" / FILE).unlink()
    runs = manager(tmp_path)
    assert [one.run_id for one in runs.list("ada") if one.run_id.startswith("r-")] == ["r-third"]


def test_a_run_that_trained_goes_on_from_the_checkpoint_that_its_copy_knows(tmp_path: Path) -> None:
    runs = manager(tmp_path)
    going = replace(full_record(run_id="r-going", outcome=None), status=RunStatus.RUNNING, process=(0, 0.0))
    for step, saved in ((50, 50), (60, 50), (100, 100), (110, 100)):
        runs.store.save(replace(going, step=step, saved=saved))
    runs.store.close()
    (tmp_path / "runs" / "r-going").mkdir()
    (tmp_path / "runs" / "r-going" / RESUME).touch()
    (tmp_path / "runs" / FILE).unlink()
    found = manager(tmp_path).get("r-going")
    assert (found.status, found.step) == (RunStatus.INTERRUPTED, 100)
    assert "press Resume to go on from the last checkpoint" in found.message


def test_a_list_from_before_the_copies_is_copied_when_it_is_opened(tmp_path: Path) -> None:
    runs = manager(tmp_path)
    for run_id in ("r-first", "r-other"):
        runs.store.save(full_record(run_id=run_id))
    runs.store.close()
    shutil.rmtree(tmp_path / FOLDER)
    manager(tmp_path).store.close()
    (tmp_path / "runs" / FILE).unlink()
    assert manager(tmp_path).get("r-other") == full_record(run_id="r-other")


@pytest.mark.parametrize("damage", ["cut", "overwritten", "gone", "another's"])
def test_damaged_weights_and_snapshots_are_named(engine: LocalEngine, spec: RunSpec, damage: str) -> None:
    good, bad = finished(engine, spec).run_id, finished(engine, replace(spec, seed=1)).run_id
    folder = engine.runs.store.folder_of(bad)
    for file in (folder / WEIGHTS, *(folder / "snapshots").iterdir()):
        if damage == "cut":
            file.write_bytes(file.read_bytes()[:-100])
        elif damage == "overwritten":
            file.write_bytes(b"\x93" * 5000)
        elif damage == "gone":
            file.unlink()
        else:
            save_file({"something": torch.ones(3)}, file)
    said = "cannot be asked" if damage == "gone" else "not of a run like this" if damage == "another's" else WEIGHTS
    with pytest.raises((StorageError, BadInputError), match=said):
        engine.follow(ASK, Ask(bad)).last.result(WAIT)
    said = {"gone": "is gone", "another's": "holds no ΔW|no ΔW"}.get(damage, "is damaged")
    if damage != "another's":
        with pytest.raises(StorageError, match=rf"000006.safetensors of this run {said}"):
            engine.follow(UPDATES, Ask(bad)).last.result(WAIT)
    assert len(engine.follow(ASK, Ask(good)).last.result(WAIT)) == 2
    engine.runs.delete(bad, "ada")
    assert [one.run_id for one in engine.runs.list("ada") if one.owner == "ada"] == [good]


@pytest.mark.parametrize("damage", ["overwritten", "another's"])
def test_a_damaged_checkpoint_is_set_aside_and_the_run_starts_again(
    engine: LocalEngine, spec: RunSpec, damage: str
) -> None:
    runs = engine.runs
    whole = finished(engine, spec)
    started = runs.store.new_id()
    folder = runs.store.folder_of(started)
    folder.mkdir()
    if damage == "overwritten":
        (folder / RESUME).write_bytes(b"\x93" * 5000)
    else:
        save_file({"something": torch.ones(3)}, folder / RESUME)
    runs.store.save(whole.evolve(run_id=started, status=RunStatus.INTERRUPTED, step=3, outcome=None))
    runs.resume(started, "ada")
    failed = runs.wait(started, WAIT)
    assert failed.status is RunStatus.FAILED
    assert failed.message.startswith(RESUME)
    assert "press Resume to start this run again from its first step" in failed.message
    runs.resume(started, "ada")
    done = runs.wait(started, WAIT)
    assert done.status is RunStatus.DONE
    assert done.losses == whole.losses


def test_a_damaged_worked_example_says_who_can_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from explorer.tuning import snapshots

    folder = tmp_path / "example-lora-8"
    (folder / snapshots.FOLDER).mkdir(parents=True)
    (folder / snapshots.FOLDER / "000090.safetensors").write_bytes(b"damaged")
    with pytest.raises(StorageError, match="Delete the run and train it again"):
        snapshots.load_snapshot(folder, 90)
    monkeypatch.setattr(snapshots, "BUNDLED_RUNS", tmp_path)
    with pytest.raises(StorageError, match="restore it from the repository"):
        snapshots.load_snapshot(folder, 90)


def test_what_a_damaged_record_is_asked_is_refused_with_its_own_advice(tmp_path: Path) -> None:
    from explorer.runs.open import OpenRun
    from explorer.runs.record import damaged

    def never() -> Any:
        raise AssertionError("nothing is loaded")

    record = damaged("example-x", "example", 0.0, ValueError("no JSON"), "assets/runs/example-x", "Restore it.")
    with pytest.raises(BadInputError, match=r"cannot be asked.*Restore it\."):
        OpenRun(record, tmp_path, never, never, never).require_weights()
