"""Following runs: something to draw whenever something is new, an end when they end, and a reason for what is missing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError, ExplorerError, ModelUnavailableError
from explorer.labs.delta.live import sweep_ranks
from explorer.labs.delta.params import SweepParams
from explorer.labs.finetune import live
from explorer.labs.finetune.schema import CompareParams, FollowParams, RunsParams
from explorer.labs.finetune.sweep import SweepParams as AnySweep
from explorer.labs.finetune.sweep import sweep
from explorer.runs.comparing import Compared, follow, follow_all
from explorer.runs.queue import MOST_WAITING
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import WAIT
from tests.engine.records import record
from tests.models import tiny

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples

Result = TypeVar("Result")


def looks(stream: Iterator[Result | None]) -> list[Result]:
    """What a page that looks every few milliseconds is given to draw, until the stream ends."""
    deadline, seen = time.monotonic() + WAIT, []
    for result in stream:
        assert time.monotonic() < deadline
        if result is not None:
            seen.append(result)
        time.sleep(0.005)
    return seen


class Told:
    """Runs whose every look is written down beforehand."""

    def __init__(self, *records: Iterable[RunRecord]) -> None:
        self.left = {f"r-{number:06d}": list(told) for number, told in enumerate(records)}

    def get(self, run_id: str) -> RunRecord:
        told = self.left[run_id]
        return told.pop(0) if len(told) > 1 else told[0]


RUNNING = record("r-000000", status=RunStatus.RUNNING)
DONE = replace(RUNNING, status=RunStatus.DONE, version=9)


class TestFollowing:
    def test_what_has_not_changed_is_not_drawn_again(self) -> None:
        changed = RUNNING.evolve(step=1)
        runs = Told([RUNNING, RUNNING, changed, changed, changed, DONE])
        assert list(follow(runs, "r-000000")) == [RUNNING, None, changed, None, None, DONE]  # type: ignore[arg-type]

    @pytest.mark.parametrize("status", [status for status in RunStatus if not status.is_active])
    def test_one_that_has_ended_is_drawn_once(self, status: RunStatus) -> None:
        ended = replace(RUNNING, status=status)
        assert list(follow(Told([ended]), "r-000000")) == [ended]  # type: ignore[arg-type]

    def test_several_are_drawn_while_one_of_them_trains(self) -> None:
        runs = Told([DONE], [RUNNING, RUNNING, RUNNING.evolve(step=1), DONE])
        missing = (("BitFit", "no biases"),)
        seen = list(follow_all(runs, ("r-000000", "r-000001"), missing))  # type: ignore[arg-type]
        assert [None if one is None else [each.version for each in one.records] for one in seen] == [
            [9, 0],
            None,
            [9, 1],
            [9, 9],
        ]
        assert all(one is None or one.missing == missing for one in seen)

    def test_a_run_that_is_deleted_meanwhile_ends_the_stream_with_a_sentence(
        self, engine: LocalEngine, spec: RunSpec
    ) -> None:
        run = executing.finished(engine, spec).run_id
        engine.runs.store.save(engine.runs.get(run).evolve(status=RunStatus.RUNNING))
        stream = follow(engine.runs, run)
        assert next(stream) is not None
        engine.runs.store.delete(run)
        with pytest.raises(BadInputError, match="may have been deleted"):
            next(stream)


class TestTraining:
    def test_a_run_is_followed_from_the_queue_to_its_end(self, engine: LocalEngine, spec: RunSpec) -> None:
        seen = looks(live.train(engine, spec, "ada"))
        assert seen[-1].status is RunStatus.DONE
        assert [one.version for one in seen] == sorted({one.version for one in seen})
        assert [len(one.losses) for one in seen] == sorted(len(one.losses) for one in seen)
        live.require_success(seen[-1])
        again = looks(live.follow_run(engine, FollowParams(seen[-1].run_id), "bob"))
        assert again == [seen[-1]]

    def test_it_never_waits_for_something_new(self, engine: LocalEngine, spec: RunSpec) -> None:
        stream = live.train(engine, replace(spec, epochs=100), "ada")
        first = next(stream)
        assert first is not None
        while next(stream) is not None:  # a look that shows nothing new is what a waiting one could not give
            assert engine.runs.get(first.run_id).status.is_active
        engine.runs.stop(first.run_id, "ada")
        assert looks(stream)[-1].status in (RunStatus.STOPPED, RunStatus.CANCELLED)

    def test_who_leaves_does_not_stop_the_run(self, engine: LocalEngine, spec: RunSpec) -> None:
        stream = live.train(engine, spec, "ada")
        first = next(stream)
        assert first is not None
        stream.close()  # type: ignore[attr-defined]
        assert engine.runs.wait(first.run_id, WAIT).status is RunStatus.DONE

    def test_a_failure_is_raised_in_its_own_words(self, engine: LocalEngine, spec: RunSpec) -> None:
        seen = looks(live.train(engine, replace(spec, learning_rate=1e6), "ada"))
        with pytest.raises(ExplorerError, match=r"learning rate 1e\+06"):
            live.require_success(seen[-1])

    def test_an_unknown_run(self, engine: LocalEngine) -> None:
        with pytest.raises(BadInputError, match="No run is called"):
            next(live.follow_run(engine, FollowParams("../../etc"), "ada"))
        for nothing in ("", None, 5):
            with pytest.raises(BadInputError, match="Choose a run"):
                FollowParams(nothing)  # type: ignore[arg-type]

    def test_lists_are_a_visitors_own(self, engine: LocalEngine, spec: RunSpec) -> None:
        run = executing.finished(engine, spec).run_id
        (ours,), (theirs,) = (list(live.runs(engine, RunsParams(), owner)) for owner in ("ada", "bob"))
        assert [one.run_id for one in ours.records] == [run]
        assert theirs == Compared(())


class TestComparing:
    def test_every_method_that_a_family_has_trains_on_the_same_data_and_the_others_say_why_not(
        self, engine: LocalEngine, spec: RunSpec, tmp_path: Path
    ) -> None:
        modern = str(tiny.save(tmp_path / "modern", "ModernBERT"))
        params = CompareParams(modern, spec.task, epochs=1, batch_size=16, examples=32, seed=3)
        seen = looks(live.compare_methods(engine, params, "ada"))
        last = seen[-1]
        why = dict(last.missing)
        assert "bias" in why["BitFit"]
        assert all(one.missing == last.missing for one in seen)
        assert len(last.records) + len(why) == len(METHODS)
        assert not set(why) & {one.name.split(" · ")[0] for one in last.records}
        failed = {one.spec.method: one.message for one in last.records if one.status is not RunStatus.DONE}
        assert list(failed) == ["prompt"]  # this model reads 24 tokens
        assert "prefix_length is 16" in failed["prompt"]
        assert {(one.spec.seed, one.spec.epochs, one.spec.examples, one.steps) for one in last.records if one.step} == {
            (3, 1, 32, 2)
        }

    def test_methods_are_named_in_a_text_or_a_list(
        self, engine: LocalEngine, spec: RunSpec, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("explorer.labs.finetune.live.settings", lambda: settings)
        params = CompareParams(spec.model, spec.task, methods="lora, bitfit", epochs=1, seeds=2)  # type: ignore[arg-type]
        last = looks(live.compare_methods(engine, params, "ada"))[-1]
        assert [(one.spec.method, one.spec.seed) for one in last.records] == [
            ("lora", 0),
            ("bitfit", 0),
            ("lora", 1),
            ("bitfit", 1),
        ]
        assert {one.status for one in last.records} == {RunStatus.DONE}
        assert last.missing == ()
        assert last.baseline is not None
        assert last.baseline.labels == tuple(float(one) for one in last.records[0].outcome.truths.split())

    def test_more_runs_than_may_wait_start_nothing(self, engine: LocalEngine, spec: RunSpec) -> None:
        with pytest.raises(BadInputError, match="9 runs with 5 seeds are 45"):
            next(live.compare_methods(engine, CompareParams(spec.model, spec.task, seeds=5), "ada"))
        assert engine.runs.list("ada") == []

    def test_an_unknown_method_starts_nothing(self, engine: LocalEngine, spec: RunSpec) -> None:
        with pytest.raises(BadInputError, match="no method 'banana'"):
            next(live.compare_methods(engine, CompareParams(spec.model, spec.task, ("lora", "banana")), "ada"))
        assert engine.runs.list("ada") == []

    def test_a_model_that_is_not_here_or_a_task_that_is_none_is_an_error_and_no_list_of_missing_methods(
        self, engine: LocalEngine, spec: RunSpec
    ) -> None:
        for params in (CompareParams("someone/else", spec.task), CompareParams(spec.model, "banana")):
            with pytest.raises((BadInputError, ModelUnavailableError), match=r"not on this machine|banana"):
                next(live.compare_methods(engine, params, "ada"))

    @pytest.mark.parametrize(
        "changes",
        [
            {"epochs": 0},
            {"batch_size": "x"},
            {"seed": -1},
            {"methods": ("lora",) * 13},
            {"examples": 0.5},
            {"seeds": 6},
        ],
    )
    def test_bad_settings_are_refused_before_anything_starts(self, changes: dict[str, object]) -> None:
        with pytest.raises(BadInputError):
            CompareParams("bert-small", **changes)  # type: ignore[arg-type]


class TestSweeping:
    def test_ranks_train_one_after_the_other_with_one_seed(self, engine: LocalEngine, spec: RunSpec) -> None:
        params = SweepParams(spec.model, spec.task, ranks=(1, 4, 32), epochs=1)
        seen = looks(sweep_ranks(engine, params, "ada"))
        records = seen[-1].records
        assert [one.spec.rank for one in records] == [1, 4, 32]
        assert {one.spec.alpha / one.spec.rank for one in records} == {2.0}
        assert {one.status for one in records} == {RunStatus.DONE}
        assert [one.trainable for one in records] == sorted({one.trainable for one in records})
        assert len(seen) > 3

    def test_any_setting_is_swept_with_several_seeds(self, engine: LocalEngine, spec: RunSpec) -> None:
        params = AnySweep(
            spec.model, spec.task, setting="last_layers", methods=("full", "bitfit"), values=("1",), seeds=2, epochs=1
        )
        last = looks(sweep(engine, params, "ada"))[-1]
        assert last.setting == "last_layers"
        assert [(one.spec.method, one.spec.seed, one.spec.last_layers) for one in last.records] == [
            ("full", 0, 1),
            ("bitfit", 0, 1),
            ("full", 1, 1),
            ("bitfit", 1, 1),
        ]
        assert {one.status for one in last.records} == {RunStatus.DONE}
        assert [one.name.split(" · ")[0] for one in last.records[:2]] == [
            "Full fine-tuning, last 1 layer",
            "BitFit, last 1 layer",
        ]

    def test_a_rank_over_the_width_fails_alone(self, engine: LocalEngine, spec: RunSpec) -> None:
        last = looks(sweep_ranks(engine, SweepParams(spec.model, spec.task, (8, 64), epochs=1), "ada"))[-1]
        assert [one.status for one in last.records] == [RunStatus.DONE, RunStatus.FAILED]
        assert "rank is 64" in last.records[1].message

    def test_more_than_fit_the_queue_say_so(self, engine: LocalEngine, spec: RunSpec) -> None:
        long = replace(spec, epochs=200)
        for _ in range(MOST_WAITING):
            engine.runs.start(long, "ada")
        while len([one for one in engine.runs.list("ada") if one.status is RunStatus.QUEUED]) < MOST_WAITING:
            engine.runs.start(long, "ada")
        with pytest.raises(BadInputError, match="runs waiting"):
            next(live.compare_methods(engine, CompareParams(spec.model, spec.task, ("lora",)), "ada"))
        for one in engine.runs.list("ada"):
            engine.runs.stop(one.run_id, "ada")
