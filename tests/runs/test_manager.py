"""The lane of the runs: fair, with a record of every run, and alive whatever happens to one of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from explorer.errors import BadInputError
from explorer.runs import manager as module
from explorer.runs.manager import RunManager
from explorer.runs.queue import MOST_WAITING
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import this_process
from tests.engine import lanes
from tests.engine.lanes import WAIT, Lane, running, start, until
from tests.engine.records import record

lane, make, runs = lanes.lane, lanes.make, lanes.runs


class TestTurns:
    def test_a_run_is_queued_trains_and_is_done(self, runs: RunManager, lane: Lane) -> None:
        run = start(runs)
        until(lambda: running(runs, run))
        assert runs.get(run).status is RunStatus.RUNNING
        lane.let_go()
        assert runs.wait(run, WAIT).status is RunStatus.DONE
        assert runs.store.find(run) == runs.get(run)

    def test_five_of_one_do_not_keep_another_waiting(self, runs: RunManager, lane: Lane) -> None:
        ada = [start(runs, "ada") for _ in range(5)]
        until(lambda: lane.began == ada[:1])
        bob = start(runs, "bob")
        assert [runs.get(run).place for run in [*ada, bob]] == [0, 2, 3, 4, 5, 1]
        lane.let_go()
        until(lambda: len(lane.began) == 2)
        assert lane.began == [ada[0], bob]
        assert [runs.get(run).place for run in [*ada[1:], bob]] == [1, 2, 3, 4, 0]
        lane.let_go(5)
        assert all(runs.wait(run, WAIT).status is RunStatus.DONE for run in [*ada, bob])
        assert lane.began == [ada[0], bob, *ada[1:]]

    def test_as_many_train_at_once_as_there_are_lanes(self, make: Callable[..., RunManager], lane: Lane) -> None:
        runs = make(training_lanes=3)
        started = [start(runs) for _ in range(5)]
        until(lambda: len(lane.began) == 3)
        time.sleep(0.05)
        assert set(lane.began) == set(started[:3])
        assert [runs.get(run).place for run in started] == [0, 0, 0, 1, 2]
        lane.let_go(5)
        assert all(runs.wait(run, WAIT).status is RunStatus.DONE for run in started)

    def test_leaving_the_queue_moves_the_others_up(self, runs: RunManager, lane: Lane) -> None:
        started = [start(runs) for _ in range(4)]
        until(lambda: running(runs, started[0]))
        runs.stop(started[1], "ada")
        assert runs.wait(started[1], 0.0).status is RunStatus.CANCELLED
        assert [runs.get(run).place for run in started] == [0, 0, 1, 2]
        lane.let_go(3)
        assert runs.wait(started[3], WAIT).status is RunStatus.DONE
        assert started[1] not in lane.began

    def test_a_visitor_has_a_limit_and_another_has_not_reached_theirs(self, runs: RunManager, lane: Lane) -> None:
        first = start(runs)
        until(lambda: running(runs, first))
        for _ in range(MOST_WAITING):
            start(runs)
        with pytest.raises(BadInputError, match="runs waiting"):
            start(runs)
        assert len(runs.list("ada")) == MOST_WAITING + 1
        start(runs, "bob")

    def test_a_server_on_which_nobody_trains_has_no_lane(self, runs: RunManager) -> None:
        assert not [thread for thread in threading.enumerate() if thread in runs._threads]
        run = start(runs)
        assert [thread.daemon for thread in runs._threads] == [True]
        runs.stop(run, "ada")


class TestFailures:
    def test_what_a_visitor_can_mend_is_said(self, runs: RunManager, lane: Lane) -> None:
        def refuse(one: RunRecord) -> RunRecord:
            raise BadInputError("The learning rate 5 is too high.")

        self._fails_with(runs, lane, refuse, "The learning rate 5 is too high.")

    def test_a_fault_of_ours_is_one_sentence_and_the_lane_goes_on(self, runs: RunManager, lane: Lane) -> None:
        def break_down(one: RunRecord) -> RunRecord:
            raise ZeroDivisionError("/secret/path")

        self._fails_with(runs, lane, break_down, "Something went wrong on the server")

    def test_running_out_of_memory_names_what_to_do(self, runs: RunManager, lane: Lane) -> None:
        def run_out(one: RunRecord) -> RunRecord:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4398046511104 bytes.")

        self._fails_with(runs, lane, run_out, "batches of 16.*smaller")

    def test_a_run_that_ends_without_a_word_has_failed(self, runs: RunManager, lane: Lane) -> None:
        self._fails_with(runs, lane, lambda one: one, "without a result")

    @staticmethod
    def _fails_with(runs: RunManager, lane: Lane, ending: Callable[[RunRecord], RunRecord], said: str) -> None:
        import re

        run, after = start(runs), start(runs)
        lane.endings[run] = ending
        lane.let_go(2)
        failed = runs.wait(run, WAIT)
        assert failed.status is RunStatus.FAILED
        assert re.search(said, failed.message)
        assert "secret" not in failed.message
        assert failed.step == 1
        assert runs.wait(after, WAIT).status is RunStatus.DONE
        assert runs.store.find(run) == failed

    def test_a_disk_that_takes_nothing_for_a_while_does_not_end_the_lane(
        self, runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = start(runs)
        until(lambda: running(runs, run))
        monkeypatch.setattr(threading, "excepthook", lambda _: None)
        with monkeypatch.context() as full:
            full.setattr(runs.store, "save", _no_space)
            lane.let_go()
            until(lambda: run not in runs._active)
        after = start(runs)
        lane.let_go()
        assert runs.wait(after, WAIT).status is RunStatus.DONE

    def test_a_run_that_cannot_be_kept_is_not_queued(
        self, runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with monkeypatch.context() as full:
            full.setattr(runs.store, "save", _no_space)
            with pytest.raises(OSError, match="No space"):
                start(runs)
        with pytest.raises(UnicodeEncodeError):
            start(runs, owner="\ud800")
        after = start(runs)
        lane.let_go()
        assert runs.wait(after, WAIT).status is RunStatus.DONE
        assert lane.began == [after]


def _no_space(one: RunRecord) -> None:
    raise OSError("No space left on device")


class TestRestarts:
    def test_records_survive_and_lost_runs_are_interrupted(self, make: Callable[..., RunManager], lane: Lane) -> None:
        first = make()
        done = start(first)
        lane.let_go()
        first.wait(done, WAIT)
        first.store.save(record("r-lost", "ada", status=RunStatus.RUNNING, process=(2**22 + 5, 1.0), step=3))
        again = make()
        assert again.get(done) == first.get(done)
        lost = again.get("r-lost")
        assert (lost.status, lost.step) == (RunStatus.INTERRUPTED, 3)
        assert {one.status for one in again.list("ada")} == {RunStatus.DONE, RunStatus.INTERRUPTED}
        again.resume("r-lost", "ada")
        lane.let_go()
        assert again.wait("r-lost", WAIT).status is RunStatus.DONE

    def test_a_process_that_dies_while_this_one_looks_is_noticed(self, runs: RunManager) -> None:
        lost = record("r-lost", "ada", status=RunStatus.RUNNING, process=this_process())
        runs.store.save(lost)
        assert runs.get("r-lost").status is RunStatus.RUNNING
        runs.store.save(replace(lost, process=(2**22 + 5, 1.0)))
        assert runs.get("r-lost").status is RunStatus.INTERRUPTED
        runs.delete("r-lost", "ada")

    def test_waiting_ends_when_the_time_is_up(self, runs: RunManager) -> None:
        run = start(runs)
        assert runs.wait(run, 0.05).status.is_active


def test_curves_go_to_disk_now_and_then_and_every_status_at_once(
    runs: RunManager, lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[tuple[RunStatus, int]] = []
    saved = runs.store.save

    def save(one: RunRecord) -> None:
        kept.append((one.status, one.step))
        saved(one)

    monkeypatch.setattr(runs.store, "save", save)
    run = start(runs)
    until(lambda: running(runs, run))
    now = runs.get(run)
    for step in range(2, 200):
        runs.publish(now := now.evolve(step=step))
    assert runs.get(run).step == 199
    assert len(kept) < 6
    monkeypatch.setattr(module, "KEEP_SECONDS", 0.0)
    runs.publish(now.evolve(step=200))
    assert kept[-1] == (RunStatus.RUNNING, 200)
    lane.let_go()
    runs.wait(run, WAIT)
    assert kept[-1][0] is RunStatus.DONE
