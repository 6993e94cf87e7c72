"""Whose run it is, and what its owner can do with it: stop, resume and delete."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.runs.manager import LECTURER, RunManager
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.runs.store import RunStore, this_process
from explorer.settings import Settings
from tests.engine import lanes
from tests.engine.lanes import WAIT, Lane, Stuck, no_model, running, start, until
from tests.engine.records import full_record, record

lane, make, runs = lanes.lane, lanes.make, lanes.runs
TRICKS = ("", "r000000000000", "../../etc", "r'; DROP TABLE runs; --", "\ud800", None, 7, ["r000000000000"])


class TestOwners:
    def test_a_visitor_lists_theirs_newest_first_and_the_lecturer_all(self, runs: RunManager) -> None:
        ada = [start(runs, "ada") for _ in range(3)]
        bob = start(runs, "bob")
        assert [one.run_id for one in runs.list("ada")] == ada[::-1]
        assert [one.run_id for one in runs.list("bob")] == [bob]
        assert [one.run_id for one in runs.list(LECTURER)] == [bob, *ada[::-1]]
        assert runs.list("nobody") == []

    @pytest.mark.parametrize("verb", ["stop", "resume", "delete"])
    @pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.QUEUED, RunStatus.STOPPED])
    def test_nobody_else_can(self, runs: RunManager, verb: str, status: RunStatus) -> None:
        first = start(runs, "ada")
        until(lambda: running(runs, first))
        run = {RunStatus.RUNNING: first, RunStatus.QUEUED: start(runs, "ada")}.get(status, "r-stopped")
        runs.store.save(record("r-stopped", "ada", status=RunStatus.STOPPED))
        before = runs.get(run)
        assert before.status is status
        for other in ("bob", "", "ADA", "nobody", "client-"):
            with pytest.raises(BadInputError, match="not yours"):
                getattr(runs, verb)(run, other)
        assert runs.get(run) == before
        assert not runs._stopping[first].is_set()

    def test_the_lecturer_can(self, runs: RunManager) -> None:
        first = start(runs, "ada")
        until(lambda: running(runs, first))
        runs.stop(first, LECTURER)
        assert runs.wait(first, WAIT).status is RunStatus.STOPPED
        runs.resume(first, LECTURER)
        assert runs.get(first).owner == "ada"
        runs.stop(first, LECTURER)
        runs.wait(first, WAIT)
        runs.delete(first, LECTURER)
        assert runs.list("ada") == []

    def test_the_lecturers_key_is_none_where_none_is_set(self, runs: RunManager, tmp_path: Path) -> None:
        assert runs.is_lecturer("key")
        assert not runs.is_lecturer("")
        assert not runs.is_lecturer("KEY")
        for key in ("kéy", "键", "\ud800", "key\0"):
            assert not runs.is_lecturer(key)
        without = RunManager(RunStore(tmp_path / "other"), Settings(), lambda *_: None, no_model)
        assert not without.is_lecturer("")

    @pytest.mark.parametrize("trick", TRICKS, ids=[f"{trick!r}"[:20] for trick in TRICKS])
    @pytest.mark.parametrize("verb", ["get", "stop", "resume", "delete"])
    def test_a_run_that_is_not_there(self, runs: RunManager, verb: str, trick: Any) -> None:
        with pytest.raises(BadInputError, match="No run is called"):
            getattr(runs, verb)(trick, *([LECTURER] if verb != "get" else []))

    @pytest.mark.parametrize("listed", [True, False])
    def test_examples_belong_to_nobody(self, tmp_path: Path, listed: bool) -> None:
        folder = tmp_path / "examples" / "example-sst2"
        folder.mkdir(parents=True)
        example = full_record(run_id="example-sst2", owner="example", listed=listed)
        (folder / "record.json").write_text(example.to_json(), encoding="utf-8")
        runs = RunManager(RunStore(tmp_path / "data", tmp_path / "examples"), Settings(), lambda *_: None, no_model)
        assert runs.list("ada") == [example] * listed
        assert runs.get("example-sst2") == example
        for owner in ("example", "ada", LECTURER):
            for refused in (runs.stop, runs.resume, runs.delete):
                with pytest.raises(BadInputError, match="a worked example of the app and not yours"):
                    refused("example-sst2", owner)
        assert folder.exists()


class TestStoppingAndResuming:
    def test_a_run_that_trains_is_told_to_stop_and_says_so(
        self, runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lane, "gate", Stuck())
        run = start(runs)
        until(lambda: running(runs, run))
        version = runs.get(run).version
        runs.stop(run, "ada")
        assert runs.get(run).message == "Stopping after this step"
        assert runs.get(run).version > version
        lane.gate.release()
        assert runs.wait(run, WAIT).status is RunStatus.STOPPED

    def test_versions_only_grow_though_stop_and_the_run_both_make_new_ones(
        self, runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lane, "gate", Stuck())
        run = start(runs)
        until(lambda: running(runs, run))
        runs.stop(run, "ada")
        runs.stop(run, "ada")
        told = runs.get(run)
        lane.gate.release()
        ended = runs.wait(run, WAIT)
        assert ended.status is RunStatus.STOPPED
        assert ended.version > told.version

    def test_a_stopped_run_goes_on_when_resumed(self, runs: RunManager, lane: Lane) -> None:
        run = start(runs)
        until(lambda: running(runs, run))
        runs.stop(run, "ada")
        runs.wait(run, WAIT)
        runs.resume(run, "ada")
        until(lambda: lane.began == [run, run])
        lane.let_go()
        assert runs.wait(run, WAIT).status is RunStatus.DONE
        with pytest.raises(BadInputError, match="done; only one that ended early"):
            runs.resume(run, "ada")

    def test_stopping_a_resumed_run_before_its_turn_leaves_what_it_had(self, runs: RunManager, lane: Lane) -> None:
        outcome = Outcome({"validation": {"accuracy": 0.75}}, {"validation": 4})
        runs.store.save(record("r-stopped", "ada", status=RunStatus.STOPPED, outcome=outcome, step=5))
        first = start(runs)
        until(lambda: running(runs, first))
        runs.resume("r-stopped", "ada")
        assert runs.get("r-stopped").status is RunStatus.QUEUED
        runs.stop("r-stopped", "ada")
        left = runs.get("r-stopped")
        assert (left.status, left.outcome, left.step) == (RunStatus.STOPPED, outcome, 5)

    @pytest.mark.parametrize("status", [RunStatus.INTERRUPTED, RunStatus.FAILED, RunStatus.CANCELLED])
    def test_whatever_ended_early_can_be_resumed(self, runs: RunManager, lane: Lane, status: RunStatus) -> None:
        runs.store.save(record("r-earlier", "ada", status=status, process=(1, 1.0)))
        runs.resume("r-earlier", "ada")
        until(lambda: lane.began == ["r-earlier"])
        assert this_process() == runs.get("r-earlier").process
        lane.let_go()
        assert runs.wait("r-earlier", WAIT).status is RunStatus.DONE

    def test_resuming_twice_queues_once(self, runs: RunManager, lane: Lane) -> None:
        runs.store.save(record("r-earlier", "ada", status=RunStatus.INTERRUPTED))
        said = []

        def resume() -> None:
            try:
                runs.resume("r-earlier", "ada")
            except BadInputError as error:
                said.append(str(error))

        threads = [threading.Thread(target=resume) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(said) == 7
        lane.let_go(8)
        runs.wait("r-earlier", WAIT)
        time.sleep(0.05)
        assert lane.began == ["r-earlier"]

    def test_a_run_that_trains_cannot_be_deleted_or_resumed(self, runs: RunManager) -> None:
        run = start(runs)
        for verb in ("delete", "resume"):
            with pytest.raises(BadInputError, match=r"stop it first|is (queued|running)"):
                getattr(runs, verb)(run, "ada")

    def test_deleting_and_resuming_wait_for_the_lane_to_let_go(
        self, runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The record says done a moment before the lane keeps it for the last time."""
        saved = runs.store.save

        def slowly(one: RunRecord) -> None:
            saved(one)
            if one.status is RunStatus.STOPPED:
                runs._changed.wait(0.1)

        monkeypatch.setattr(runs.store, "save", slowly)
        run = start(runs)
        until(lambda: running(runs, run))
        runs.stop(run, "ada")
        until(lambda: runs.get(run).status is RunStatus.STOPPED)
        runs.resume(run, "ada")
        until(lambda: lane.began == [run, run])
        runs.stop(run, "ada")
        until(lambda: runs.get(run).status is RunStatus.STOPPED)
        runs.delete(run, "ada")
        time.sleep(0.3)
        assert runs.list("ada") == []
        other = start(runs)
        lane.let_go()
        assert runs.wait(other, WAIT).status is RunStatus.DONE

    def test_a_run_of_another_server_is_stopped_there(self, make: Callable[..., RunManager]) -> None:
        here, there = make(), make()
        run = start(here)
        until(lambda: running(here, run))
        assert there.get(run).status is RunStatus.RUNNING
        with pytest.raises(BadInputError, match="another server"):
            there.stop(run, "ada")
        with pytest.raises(BadInputError, match="stop it first"):
            there.delete(run, "ada")
