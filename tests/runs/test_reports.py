"""What a run says of itself as it goes and at its end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from explorer.errors import BadInputError
from explorer.models.loaded_model import LoadedModel
from explorer.runs import worker as module
from explorer.runs import working as loop
from explorer.runs.record import RunStatus
from explorer.runs.report import under_way
from explorer.runs.store import WEIGHTS
from explorer.tasks.task import Example
from explorer.tuning.spec import RunSpec
from tests.engine import working
from tests.engine.records import record
from tests.engine.working import METHODS, CrashError, Run, crash_at
from tests.models import conftest as models_conftest
from tests.tuning.small import BOTH, KILOS, WEIGHT, data, examples

bert_folder, bert = models_conftest.bert_folder, models_conftest.bert
unchanged = working.unchanged


class TestSaying:
    def test_what_happens_beside_the_steps_is_said(self) -> None:
        run = record(status=RunStatus.RUNNING, step=3, steps=10, message="No word from its machine for 12 s")
        assert str(under_way(run)).endswith(": step 3 of 10. No word from its machine for 12 s.")

    def test_divergence_is_said(self, bert: LoadedModel, tmp_path: Path) -> None:
        with pytest.raises(BadInputError, match=r"learning rate 1e\+06 is too high"):
            Run(bert, tmp_path, replace(METHODS["lora"], learning_rate=1e6)).work()
        assert not (tmp_path / WEIGHTS).exists()

    def test_the_curve_up_to_a_failure_is_left(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(loop, "PUBLISH_SECONDS", 1e9)
        crash_at(monkeypatch, 6)
        run = Run(bert, tmp_path, METHODS["bitfit"], data(train=200))
        with pytest.raises(CrashError):
            run.work()
        assert [step for step, _ in run.last.losses] == list(range(1, 7))

    @pytest.mark.parametrize("count", [0, 3])
    def test_one_class_only_is_refused_by_its_name(self, bert: LoadedModel, tmp_path: Path, count: int) -> None:
        one_class = replace(data(), train=tuple(replace(one, label=1.0) for one in data().train))
        with pytest.raises(BadInputError, match=r"All \d+ training examples are of one class \(yes\)"):
            Run(bert, tmp_path, replace(METHODS["lora"], examples=count), one_class).work()
        with pytest.raises(BadInputError, match="of one class"):
            Run(bert, tmp_path, replace(METHODS["lora"], examples=1)).work()

    def test_long_texts_are_counted_in_a_note_beside_the_tasks_own(self, bert: LoadedModel, tmp_path: Path) -> None:
        task_data = data()
        long = [Example("cat " * 25_000, None, 1.0), Example("the mat " * 40, None, 0.0)]
        held_out = {"validation": (long[0], *task_data.validation["validation"])}
        task_data = replace(task_data, train=(*long, *task_data.train), validation=held_out, notes=("Two rows lost.",))
        done = Run(bert, tmp_path, METHODS["lora"], task_data).work()
        assert done.notes[0] == "Two rows lost."
        assert done.notes[1].startswith("3 of the texts are longer")
        assert len(done.notes) == 2
        assert all(len(one.text) <= 400 for one in done.outcome.wrong)  # type: ignore[union-attr]

    def test_virtual_tokens_leave_less_room_for_a_long_text(self, bert: LoadedModel, tmp_path: Path) -> None:
        task_data = data()
        long = [Example("the mat " * number, None, float(number % 2)) for number in (10, 11, 12, 13)]
        task_data = replace(task_data, train=(*task_data.train, *long))
        assert Run(bert, tmp_path / "lora", METHODS["lora"], task_data).work().notes[0].startswith("2 of the texts")
        assert Run(bert, tmp_path / "prefix", METHODS["prefix"], task_data).work().notes[0].startswith("4 of the texts")

    def test_a_long_validation_is_measured_in_part_and_says_so(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "MOST_HELD_OUT", 10)
        done = Run(bert, tmp_path, METHODS["lora"]).work()
        assert done.outcome is not None
        assert done.outcome.rows == {"validation": 10}
        assert "first 10 of 24 examples of validation" in done.notes[0]

    def test_only_as_many_examples_as_were_asked_for(self, bert: LoadedModel, tmp_path: Path) -> None:
        done = Run(bert, tmp_path, replace(METHODS["lora"], examples=20)).work()
        assert (done.steps, done.steps_per_epoch) == (4, 2)

    def test_progress_is_told_at_least_every_half_second(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert loop.PUBLISH_SECONDS + 0.25 < 0.5
        monkeypatch.setattr(loop, "PUBLISH_SECONDS", 0.0)
        run = Run(bert, tmp_path, METHODS["lora"], data(train=200))
        run.work()
        assert {one.step for one in run.seen} == set(range(27))
        left = [one.seconds_left for one in run.seen if one.step > 1 and one.seconds_left]
        assert left[-1] < left[0]

    def test_a_long_curve_is_thinned_out(
        self, bert: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(loop, "MOST_POINTS", 4)
        done = Run(bert, tmp_path, replace(METHODS["lora"], epochs=3)).work()
        assert [step for step, _ in done.losses] == [3, 6, 9]


class TestTasks:
    def test_a_regression_has_scores_in_its_unit(self, bert: LoadedModel, tmp_path: Path) -> None:
        spec = RunSpec("tiny", method="full", learning_rate=2e-3, epochs=20, batch_size=8)
        run = Run(bert, tmp_path, spec, data(WEIGHT, train=96))
        done = run.work()
        outcome = done.outcome
        assert outcome is not None
        assert outcome.confusion == ()
        assert len(outcome.points) == 24
        assert [label for label, _ in outcome.points] == [one.label for one in run.data.validation["validation"]]
        errors = [abs(said - true) for true, said in outcome.points]
        assert sum(errors) / len(errors) < KILOS
        assert outcome.wrong[0].probability is None
        assert abs(outcome.wrong[0].predicted - outcome.wrong[0].label) == pytest.approx(max(errors))
        labels = torch.tensor([one.label for one in run.data.train], dtype=torch.float64)
        assert done.scale == pytest.approx((float(labels.mean()), float(labels.std(correction=0))))
        assert set(outcome.metrics["validation"]) == {"pearson", "spearman", "loss"}

    def test_every_split_is_measured_and_the_first_one_leads(self, bert: LoadedModel, tmp_path: Path) -> None:
        splits = {"matched": examples(BOTH, 10, seed=5), "mismatched": examples(BOTH, 6, seed=6)}
        done = Run(bert, tmp_path, METHODS["lora"], replace(data(BOTH), validation=splits)).work()
        assert done.outcome is not None
        assert done.outcome.rows == {"matched": 10, "mismatched": 6}
        assert sum(map(sum, done.outcome.confusion)) == 10
        assert done.score == done.outcome.metrics["matched"]["accuracy"]
        assert all(one.second is not None for one in done.outcome.wrong)
