"""One run's work: what it keeps, and that it leaves the shared model alone however it ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from explorer.models.loaded_model import LoadedModel
from explorer.runs import worker as module
from explorer.runs import working as loop
from explorer.runs.record import RunStatus
from explorer.runs.store import RESUME, WEIGHTS
from explorer.tuning import training as training_module
from explorer.tuning.adapted import adapt
from explorer.tuning.reading import Scale, decide, predict
from explorer.tuning.rows import Rows, tokenise
from explorer.tuning.snapshots import load_snapshot
from explorer.tuning.spec import RunSpec
from tests.engine import working
from tests.engine.working import EACH, METHODS, STEPS, CrashError, Run, crash_at, same
from tests.models import conftest as models_conftest
from tests.tuning.small import CATS

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert
unchanged = working.unchanged


class TestEnding:
    @EACH
    def test_a_run_that_is_done_has_weights_and_an_outcome(
        self, bert: LoadedModel, tmp_path: Path, spec: RunSpec
    ) -> None:
        run = Run(bert, tmp_path, spec)
        done = run.work()
        assert (done.status, done.step, done.steps, done.message) == (RunStatus.DONE, STEPS, STEPS, "")
        assert [step for step, _ in done.losses] == list(range(1, STEPS + 1))
        assert [step for step, _ in done.evaluations] == list(range(STEPS + 1))
        assert done.outcome is not None
        assert done.outcome.rows == {"validation": 24}
        assert done.rate > 0
        assert done.seconds > 0
        assert done.memory_bytes > 2**20
        assert 0 < done.trainable <= done.parameters
        assert sum(tensor.numel() for tensor in run.weights.values()) >= done.trainable
        assert not (tmp_path / RESUME).exists()
        assert [one.version for one in run.seen] == sorted({one.version for one in run.seen})

    @EACH
    def test_the_weights_restore_the_predictions_that_the_outcome_tells(
        self, bert: LoadedModel, tmp_path: Path, spec: RunSpec
    ) -> None:
        run = Run(bert, tmp_path, replace(spec, learning_rate=3e-3, epochs=8))
        done = run.work()
        restored = adapt(bert, 2, done.spec)
        restored.load_state(run.weights)
        held_out = run.data.validation["validation"]
        logits = predict(restored, tokenise(bert, held_out), torch.device("cpu"))
        predicted = decide(CATS, logits, Scale())
        assert done.outcome is not None
        hits = sum(one == example.label for one, example in zip(predicted, held_out, strict=True))
        assert done.outcome.metrics["validation"]["accuracy"] == hits / len(held_out)
        table = done.outcome.confusion
        assert [sum(row) for row in table] == [12, 12]
        assert table[0][0] + table[1][1] == hits
        assert sum(table[0]) - table[0][0] == sum(
            guess == 1 and example.label == 0 for guess, example in zip(predicted, held_out, strict=True)
        )
        assert [float(value) for value in done.outcome.truths.split()] == [example.label for example in held_out]
        assert [float(value) for value in done.outcome.answers.split()] == predicted
        assert len(done.outcome.wrong) == min(20, len(held_out) - hits)
        sure = [one.probability for one in done.outcome.wrong]
        assert sure == sorted(sure, key=lambda value: -(value or 0))
        by_text = {example.text: example.label for example in held_out}
        assert all(one.label == by_text[one.text] != one.predicted for one in done.outcome.wrong)

    @EACH
    @pytest.mark.parametrize("at", [1, 4])
    def test_a_stop_keeps_what_was_trained_and_resume_ends_where_no_stop_would(
        self, bert: LoadedModel, tmp_path: Path, spec: RunSpec, at: int
    ) -> None:
        whole = Run(bert, tmp_path / "whole", spec)
        whole.work()
        run = Run(bert, tmp_path / "stopped", spec)
        stopped = run.work(stop=lambda one: one.step >= at)
        assert (stopped.status, stopped.step) == (RunStatus.STOPPED, at)
        assert f"step {at} of {STEPS}" in stopped.message
        assert stopped.outcome is not None
        assert [step for step, _ in stopped.losses] == list(range(1, at + 1))
        assert stopped.losses == whole.last.losses[:at]
        assert not same(run.weights, whole.weights)
        done = run.work()
        assert (done.status, done.step) == (RunStatus.DONE, STEPS)
        assert [step for step, _ in done.losses] == list(range(1, STEPS + 1))
        assert [loss for _, loss in done.losses] == pytest.approx([loss for _, loss in whole.last.losses], abs=2e-6)
        assert done.seconds > stopped.seconds
        assert same(run.weights, whole.weights)
        assert done.outcome == replace(whole.last.outcome, wrong=done.outcome.wrong)  # type: ignore[type-var, union-attr]

    @EACH
    def test_after_a_crash_it_goes_on_from_the_last_checkpoint(
        self, bert: LoadedModel, tmp_path: Path, spec: RunSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = Run(bert, tmp_path / "whole", spec)
        whole.work()
        monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
        monkeypatch.setattr(loop, "CHECKPOINT_SHARE", 1e9)
        run = Run(bert, tmp_path / "crashed", spec)
        with monkeypatch.context() as broken:
            crash_at(broken, 4)
            with pytest.raises(CrashError):
                run.work()
        assert run.last.status is RunStatus.RUNNING
        assert run.last.step == 4
        assert [step for step, _ in run.last.losses] == [1, 2, 3, 4]
        assert not (run.folder / WEIGHTS).exists()
        run.seen.append(run.last.evolve(losses=(*run.last.losses, (5, 9.9)), snapshots=(*run.last.snapshots, 5)))
        done = run.work()
        assert done.status is RunStatus.DONE
        assert [loss for _, loss in done.losses] == pytest.approx([loss for _, loss in whole.last.losses], abs=2e-6)
        assert done.snapshots == whole.last.snapshots
        assert same(run.weights, whole.weights)

    @pytest.mark.parametrize(("share", "expected"), [(1e9, STEPS - 1), (1e-9, 1)])
    def test_checkpoints_that_take_long_are_written_less_often(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, expected: int
    ) -> None:
        written: list[str] = []
        save = module.save_tensors

        def count(path: Path, tensors: dict[str, torch.Tensor]) -> None:
            written.append(path.name)
            save(path, tensors)

        monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", 0.0)
        monkeypatch.setattr(loop, "CHECKPOINT_SHARE", share)
        for place in (module, loop):
            monkeypatch.setattr(place, "save_tensors", count)
        Run(bert, tmp_path, METHODS["bitfit"]).work()
        assert written == [RESUME] * expected + [WEIGHTS]

    def test_without_a_checkpoint_it_starts_again(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = Run(bert, tmp_path, METHODS["lora"])
        with monkeypatch.context() as broken:
            crash_at(broken, 3)
            with pytest.raises(CrashError):
                run.work()
        assert not (tmp_path / RESUME).exists()
        run.seen.append(run.last.evolve(seconds=1000.0))
        done = run.work()
        assert [step for step, _ in done.losses] == list(range(1, STEPS + 1))
        assert done.evaluations[0][0] == 0
        assert done.seconds < 1000

    def test_before_and_after_are_measured_on_all_held_out_rows_and_between_on_the_first(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked: list[int] = []
        real = training_module.Training.predict

        def predict(self: training_module.Training, rows: Rows, count: int | None = None, *rest: Any) -> torch.Tensor:
            asked.append(len(rows) if count is None else count)
            return real(self, rows, count, *rest)

        monkeypatch.setattr(training_module, "QUICK_ROWS", 5)
        monkeypatch.setattr(training_module.Training, "predict", predict)
        done = Run(bert, tmp_path, METHODS["bitfit"]).work()
        assert asked == [24, *[5] * STEPS, 24]
        assert (done.whole, done.held_out) == ((0, STEPS), 24)
        assert done.evaluations[-1] == (STEPS, done.outcome.metrics["validation"])  # type: ignore[union-attr]

    def test_stopping_before_the_first_step_trains_nothing(self, bert: LoadedModel, tmp_path: Path) -> None:
        run = Run(bert, tmp_path, METHODS["lora"])
        ended = run.work(stop=lambda one: True)
        assert (ended.status, ended.step, ended.losses, ended.outcome) == (RunStatus.CANCELLED, 0, (), None)
        assert not (tmp_path / WEIGHTS).exists()
        assert run.work().status is RunStatus.DONE

    def test_stopping_at_the_last_step_is_done(self, bert: LoadedModel, tmp_path: Path) -> None:
        assert Run(bert, tmp_path, METHODS["lora"]).work(stop=lambda one: one.step == STEPS).status is RunStatus.DONE

    def test_a_run_that_goes_on_has_no_old_result(self, bert: LoadedModel, tmp_path: Path) -> None:
        run = Run(bert, tmp_path, METHODS["lora"])
        run.work(stop=lambda one: one.step == 2)
        before = len(run.seen)
        run.work()
        assert all(one.outcome is None for one in run.seen[before + 1 : -1])


class TestSnapshots:
    def test_lora_keeps_its_update_as_it_goes(self, bert: LoadedModel, tmp_path: Path) -> None:
        run = Run(bert, tmp_path, METHODS["lora"])
        done = run.work(stop=lambda one: one.step == 4)
        assert done.snapshots == (1, 2, 3, 4)
        restored = adapt(bert, 2, done.spec)
        restored.load_state(run.weights)
        last = load_snapshot(tmp_path, 4)
        for place, delta in restored.deltas().items():
            torch.testing.assert_close(last[place].dense(), delta.dense())
        norms = [
            sum(float(delta.dense().norm()) for delta in load_snapshot(tmp_path, step).values()) for step in (1, 4)
        ]
        assert 0 < norms[0] < norms[1]

    @pytest.mark.parametrize("name", ["full", "bitfit", "prefix"])
    def test_other_methods_compute_none(
        self, bert: LoadedModel, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("explorer.tuning.adapted.Adapted.deltas", lambda self: pytest.fail("a dense update"))
        assert Run(bert, tmp_path, METHODS[name]).work().snapshots == ()
