"""Records and folders: complete, safe for many threads, and honest about runs whose process is gone."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import psutil
import pytest

from explorer.errors import BadInputError
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RESUME, RunStore, this_process
from tests.engine.records import full_record, record

TRICKS = (
    "",
    "..",
    "../..",
    "r0123456789ab/..",
    "/etc/passwd",
    "r0123456789ab\x00",
    "R0123456789AB",
    "r" * 60,
    "r'; --",
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    made = RunStore(tmp_path)
    yield made
    made.close()


def another_process() -> tuple[subprocess.Popen[bytes], tuple[int, float]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    return process, (process.pid, psutil.Process(process.pid).create_time())


class TestRecords:
    def test_json_keeps_all_of_it(self) -> None:
        before = full_record()
        default = record()
        same = [field.name for field in fields(before) if getattr(before, field.name) == getattr(default, field.name)]
        assert same == ["run_id", "owner", "created", "name", "process"]
        after = RunRecord.from_json(before.to_json())
        assert after == before
        assert isinstance(after.status, RunStatus)
        assert hash(after.spec) == hash(before.spec)

    def test_json_is_json(self) -> None:
        assert json.loads(full_record().to_json(), parse_constant=lambda name: pytest.fail(name))

    def test_a_newer_record_has_a_greater_version(self) -> None:
        assert record(version=3).evolve(step=9) == record(version=4, step=9)

    def test_the_score_is_the_leading_metric_at_the_end_or_where_last_measured(self) -> None:
        assert full_record().score == 0.75
        assert full_record(outcome=None).score == 0.625
        assert record().score is None


class TestKeeping:
    def test_a_record_is_found_again_by_its_name_also_after_a_restart(self, store: RunStore, tmp_path: Path) -> None:
        store.save(full_record())
        store.save(full_record(step=41, version=18))
        store.close()
        again = RunStore(tmp_path)
        assert again.find("r0123456789ab") == full_record(step=41, version=18)
        assert again.find("r0123456789ac") is None
        again.close()

    def test_owners_see_theirs_newest_first(self, store: RunStore) -> None:
        for number, owner in enumerate(("ada", "bob", "ada", "ada")):
            store.save(record(f"r-{number:06d}", owner, created=100.0 + min(number, 2)))
        assert [one.run_id[-1] for one in store.owned_by("ada")] == ["3", "2", "0"]
        assert [one.run_id[-1] for one in store.owned_by(None)] == ["3", "2", "1", "0"]
        assert store.owned_by("nobody") == []
        assert store.owned_by("*") == []

    def test_deleting_forgets_record_and_folder(self, store: RunStore) -> None:
        store.save(record())
        folder = store.folder_of("r0123456789ab")
        folder.mkdir()
        (folder / RESUME).write_bytes(b"x")
        store.delete("r0123456789ab")
        assert store.find("r0123456789ab") is None
        assert not folder.exists()
        store.delete("r0123456789ab")

    def test_new_names_differ_and_are_valid(self, store: RunStore) -> None:
        names = {store.new_id() for _ in range(100)}
        assert len(names) == 100
        assert all(store.folder_of(name).parent == store.folder for name in names)

    @pytest.mark.parametrize("trick", TRICKS)
    def test_a_name_that_leads_elsewhere_is_refused(self, store: RunStore, trick: str) -> None:
        assert store.find(trick) is None
        with pytest.raises(BadInputError, match="No run is called"):
            store.folder_of(trick)

    @pytest.mark.parametrize("odd", [None, 5, ["r0123456789ab"], {"a": 1}])
    def test_what_is_no_name_at_all_is_refused(self, store: RunStore, odd: object) -> None:
        assert store.find(odd) is None  # type: ignore[arg-type]
        with pytest.raises(BadInputError, match="No run is called"):
            store.folder_of(odd)  # type: ignore[arg-type]

    def test_examples_are_found_and_not_among_anybodys(self, tmp_path: Path) -> None:
        folder = tmp_path / "examples" / "example-sst2"
        folder.mkdir(parents=True)
        example = full_record(run_id="example-sst2", owner="example", listed=True)
        (folder / "record.json").write_text(example.to_json(), encoding="utf-8")
        store = RunStore(tmp_path / "data", tmp_path / "examples")
        assert store.find("example-sst2") == example
        assert store.examples() == [example]
        assert store.folder_of("example-sst2") == folder
        assert store.owned_by(None) == []
        store.close()


class TestRestarts:
    @pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.RUNNING])
    def test_a_run_of_a_process_that_is_gone_is_interrupted_and_says_so(
        self, store: RunStore, tmp_path: Path, status: RunStatus
    ) -> None:
        process, number = another_process()
        before = record(status=status, process=number, step=7, steps=40, place=3, seconds_left=5.0, losses=((1, 0.5),))
        store.save(before)
        assert store.find(before.run_id) == before
        process.kill()
        process.wait()
        for found in (store.find(before.run_id), *store.owned_by("ada")):
            assert found is not None
            assert (found.status, found.place, found.seconds_left) == (RunStatus.INTERRUPTED, 0, None)
            assert found.version > before.version
            assert (found.losses, found.step) == (before.losses, 7)
            assert "step 7 of 40" in found.message
            assert "Resume to start it again" in found.message
        with sqlite3.connect(tmp_path / "runs" / "runs.sqlite") as database:
            assert database.execute("SELECT status FROM runs").fetchall() == [("interrupted",)]

    def test_it_says_when_there_is_a_checkpoint(self, store: RunStore) -> None:
        store.save(record(status=RunStatus.RUNNING, process=(2**22 + 5, 1.0)))
        folder = store.folder_of("r0123456789ab")
        folder.mkdir()
        (folder / RESUME).write_bytes(b"x")
        found = store.find("r0123456789ab")
        assert found is not None
        assert "from the last checkpoint" in found.message

    def test_a_number_that_another_process_has_now_is_not_the_old_one(self, store: RunStore) -> None:
        number, began = this_process()
        store.save(record(status=RunStatus.RUNNING, process=(number, began - 500.0)))
        found = store.find("r0123456789ab")
        assert found is not None
        assert found.status is RunStatus.INTERRUPTED

    def test_a_clock_that_is_set_neither_ends_a_run_nor_puts_it_in_another_place(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.save(record("r-before", created=2_000.0, status=RunStatus.RUNNING))
        monkeypatch.setattr(psutil.Process, "create_time", lambda process: this_process()[1] - 3600)
        monkeypatch.setattr("explorer.runs.store.time.time", lambda: 1_500.0)
        store.save(record("r-after", created=store.now(), status=RunStatus.RUNNING))
        assert [(one.run_id, one.status) for one in store.owned_by("ada")] == [
            ("r-after", RunStatus.RUNNING),
            ("r-before", RunStatus.RUNNING),
        ]
        monkeypatch.setattr("explorer.runs.store.time.time", lambda: 3_000.0)
        assert store.now() == 3_000.0

    def test_a_run_of_another_live_process_goes_on(self, store: RunStore) -> None:
        process, number = another_process()
        try:
            before = record(status=RunStatus.RUNNING, process=number)
            store.save(before)
            assert store.owned_by(None) == [before]
        finally:
            process.kill()
            process.wait()

    def test_a_run_that_has_ended_stays_as_it_ended(self, store: RunStore) -> None:
        for number, status in enumerate(status for status in RunStatus if not status.is_active):
            store.save(record(f"r-{number:06d}", status=status, process=(2**22 + 5, 1.0)))
        assert {one.status for one in store.owned_by(None)} == {one for one in RunStatus if not one.is_active}

    def test_a_result_that_arrives_at_the_last_moment_is_not_overwritten(
        self, store: RunStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = record(status=RunStatus.RUNNING, process=(2**22 + 5, 1.0))
        store.save(gone)
        real = store.folder_of

        def meanwhile(run_id: str) -> Path:
            store.save(gone.evolve(status=RunStatus.DONE))
            return real(run_id)

        monkeypatch.setattr(store, "folder_of", meanwhile)
        store.find(gone.run_id)
        found = store.find(gone.run_id)
        assert found is not None
        assert found.status is RunStatus.DONE


def test_many_threads_write_while_others_read_in_two_processes_worth_of_connections(tmp_path: Path) -> None:
    store, other = RunStore(tmp_path), RunStore(tmp_path)
    errors: list[BaseException] = []
    ended = threading.Event()

    def write(name: str) -> None:
        try:
            for step in range(40):
                (store if step % 2 else other).save(full_record(run_id=f"r-{name * 6}", step=step, version=step))
        except BaseException as error:
            errors.append(error)

    def read() -> None:
        try:
            while not ended.is_set():
                for one in other.owned_by(None):
                    assert one == full_record(run_id=one.run_id, step=one.step, version=one.step)
        except BaseException as error:
            errors.append(error)

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(name,)) for name in "abcde"]
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    reader.join()
    assert errors == []
    assert {one.step for one in store.owned_by("ada")} == {39}
    assert len(store.owned_by("ada")) == 5
    store.close()
    other.close()


def test_equal_records_differ_in_nothing_that_json_forgets() -> None:
    assert replace(full_record(), outcome=None) != full_record()
