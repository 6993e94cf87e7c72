"""Students as runs: checked before they are queued, stopped and resumed, tried and exported like any other."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForSequenceClassification

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.labs.finetune.schema import ExportParams, PredictRunParams
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import RESUME, WEIGHTS
from explorer.settings import Settings
from explorer.tasks.sources import keep_upload
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import labels_only
from explorer.tuning.training import Training
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.models import tiny
from tests.tuning.files.kept import unpacked
from tests.tuning.small import CATS, WEIGHT, examples

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples


@pytest.fixture
def teacher(engine: LocalEngine, spec: RunSpec) -> RunRecord:
    return finished(engine, spec)


@pytest.fixture
def asked(spec: RunSpec, teacher: RunRecord) -> RunSpec:
    return replace(spec, method="distill", teacher=teacher.run_id, learning_rate=None)


class TestChecking:
    def test_the_number_of_layers_is_settled(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, asked)
        assert record.status is RunStatus.DONE, record.message
        assert record.spec.student_layers == 1
        assert record.name.startswith("1-layer student, soft targets")
        folder = engine.runs.store.folder_of(record.run_id)
        assert record.parameters == record.trainable
        again = engine.runs.store.find(record.run_id)
        assert again is not None
        assert again.spec == record.spec
        assert (folder / WEIGHTS).stat().st_size == pytest.approx(record.checkpoint_bytes, rel=0.2)

    def test_a_student_without_a_teacher(self, engine: LocalEngine, spec: RunSpec) -> None:
        with pytest.raises(BadInputError, match="needs a teacher"):
            engine.runs.start(replace(spec, method="distill"), "ada")

    def test_a_teacher_that_is_not_there(self, engine: LocalEngine, asked: RunSpec) -> None:
        for name in ("r000000000000", "../../etc/passwd", "<b>"):
            with pytest.raises(BadInputError, match="No run is called"):
                engine.runs.start(replace(asked, teacher=name), "ada")

    def test_more_layers_than_the_teacher(self, engine: LocalEngine, asked: RunSpec) -> None:
        with pytest.raises(BadInputError, match="would have 3 layers and can have at most 2"):
            engine.runs.start(replace(asked, student_layers=3), "ada")

    def test_a_teacher_of_another_task(
        self, engine: LocalEngine, asked: RunSpec, settings: Settings, tmp_path: Path
    ) -> None:
        path = tmp_path / "other.tsv"
        rows = [f"{one.text}\t{('dull', 'fine')[int(one.label)]}" for one in examples(CATS, 40)]
        path.write_text("\n".join(["sentence\tlabel", *rows]), encoding="utf-8")
        other = keep_upload(path, settings).name
        with pytest.raises(BadInputError, match="has learned another task"):
            engine.runs.start(replace(asked, task=other), "ada")

    def test_a_teacher_that_has_not_finished(self, engine: LocalEngine, asked: RunSpec, teacher: RunRecord) -> None:
        engine.runs.store.save(teacher.evolve(status=RunStatus.FAILED))
        with pytest.raises(BadInputError, match="cannot teach before it is done"):
            engine.runs.start(asked, "ada")

    def test_a_teacher_whose_weights_are_gone(self, engine: LocalEngine, asked: RunSpec, teacher: RunRecord) -> None:
        (engine.runs.store.folder_of(teacher.run_id) / WEIGHTS).unlink()
        with pytest.raises(BadInputError, match="its weights are not here"):
            engine.runs.start(asked, "ada")

    def test_another_model_starts_from_its_own_layers(
        self, engine: LocalEngine, asked: RunSpec, tmp_path: Path
    ) -> None:
        narrow = str(tiny.save(tmp_path / "narrow", "BERT", hidden_size=16, intermediate_size=32))
        other = replace(asked, model=narrow)
        with pytest.raises(BadInputError, match="start = pretrained"):
            engine.runs.start(other, "ada")
        record = finished(engine, replace(other, start="pretrained"))
        assert record.status is RunStatus.DONE, record.message
        failed = finished(engine, replace(other, start="random", cosine_weight=1.0))
        assert failed.status is RunStatus.FAILED
        assert "have no cosine" in failed.message

    def test_a_score_has_no_soft_targets(
        self, engine: LocalEngine, spec: RunSpec, settings: Settings, tmp_path: Path
    ) -> None:
        path = tmp_path / "weights.tsv"
        rows = [f"{one.text}\t{one.label + number / 100}" for number, one in enumerate(examples(WEIGHT, 60))]
        path.write_text("\n".join(["sentence\tscore", *rows]), encoding="utf-8")
        name = keep_upload(path, settings).name
        first = finished(engine, replace(spec, task=name))
        asked = replace(spec, task=name, method="distill", teacher=first.run_id)
        with pytest.raises(BadInputError, match=r"no soft targets.*soft_loss = l2"):
            engine.runs.start(asked, "ada")
        record = finished(engine, replace(asked, soft_loss="l2"))
        assert record.status is RunStatus.DONE, record.message
        assert record.outcome is not None
        assert "agreement" not in record.outcome.metrics["validation"]


class TestFewLabels:
    def test_the_run_says_how_many_it_knows(self, engine: LocalEngine, asked: RunSpec) -> None:
        few = replace(asked, labelled=8, soft_weight=0.5, hard_weight=0.5)
        record = finished(engine, few)
        assert record.status is RunStatus.DONE, record.message
        assert "soft targets + 8 labels" in record.name
        assert any(note.endswith("examples have no label here.") for note in record.notes)
        alone = finished(engine, labels_only(few))
        assert "student, 8 labels" in alone.name
        assert alone.steps == record.steps
        assert alone.notes == record.notes

    def test_one_class_among_the_known_is_refused(self, engine: LocalEngine, asked: RunSpec) -> None:
        failed = finished(engine, replace(asked, labelled=1, soft_weight=0.0, hard_weight=1.0))
        assert failed.status is RunStatus.FAILED
        assert "of one class" in failed.message

    def test_a_text_has_no_labels_to_withhold(self, engine: LocalEngine, asked: RunSpec) -> None:
        with pytest.raises(BadInputError, match="labelled has no meaning there"):
            engine.runs.start(replace(asked, method="distill_text", teacher="", task="text", labelled=8), "ada")

    def test_other_methods_take_no_notice(self, engine: LocalEngine, spec: RunSpec) -> None:
        plain, same = (finished(engine, replace(spec, labelled=count)) for count in (0, 1))
        assert plain.losses == same.losses
        assert same.notes == plain.notes


class TestRunning:
    def test_a_student_keeps_its_agreement(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, asked)
        assert record.outcome is not None
        agreed = record.outcome.metrics["validation"]["agreement"]
        assert agreed is not None
        assert 0 <= agreed <= 1
        assert all("agreement" in values for _, values in record.evaluations)
        assert "agreement" not in record.metrics

    def test_a_student_of_all_layers_agrees_before_it_learns(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, replace(asked, student_layers=2, learning_rate=1e-9))
        assert [values["agreement"] for _, values in record.evaluations] == [1.0] * len(record.evaluations)

    @pytest.mark.parametrize("changes", [{}, {"cosine_weight": 1.0, "hard_weight": 1.0}], ids=["soft", "all terms"])
    def test_a_stop_and_resume_end_where_no_stop_would(
        self, engine: LocalEngine, asked: RunSpec, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
    ) -> None:
        wanted = replace(asked, epochs=3, **changes)
        whole = finished(engine, wanted)
        reached, gone_on = threading.Event(), threading.Event()
        real = Training._one_step

        def held(self: Training, batch: list[int]) -> Any:
            if self.step == 4 and not gone_on.is_set():
                reached.set()
                gone_on.wait(WAIT)
            return real(self, batch)

        monkeypatch.setattr(Training, "_one_step", held)
        run_id = engine.runs.start(wanted, "ada")
        assert reached.wait(WAIT)
        engine.runs.stop(run_id, "ada")
        gone_on.set()
        stopped = engine.runs.wait(run_id, WAIT)
        assert (stopped.status, stopped.step) == (RunStatus.STOPPED, 5)
        assert (engine.runs.store.folder_of(run_id) / RESUME).exists()
        engine.runs.resume(run_id, "ada")
        done = engine.runs.wait(run_id, WAIT)
        assert done.status is RunStatus.DONE
        assert [loss for _, loss in done.losses] == pytest.approx([loss for _, loss in whole.losses], abs=2e-6)
        assert done.outcome is not None
        assert whole.outcome is not None
        assert done.outcome.metrics == whole.outcome.metrics

    def test_a_student_can_be_asked_and_taken_home(
        self, engine: LocalEngine, asked: RunSpec, monkeypatch: pytest.MonkeyPatch, settings: Settings
    ) -> None:
        from explorer.labs.finetune import jobs as compute

        monkeypatch.setattr(compute, "settings", lambda: settings)
        record = finished(engine, replace(asked, learning_rate=5e-3))
        predict = Job("explorer.labs.finetune.jobs:predict_run", on="runs")
        answer = engine.follow(predict, PredictRunParams(record.run_id, "the cat sat")).last.result()
        assert answer.base.logits != answer.adapted.logits
        export = Job("explorer.labs.finetune.jobs:export_run", on="runs")
        with pytest.raises(BadInputError, match="kind = merged"):
            engine.follow(export, ExportParams(record.run_id)).last.result()
        path = engine.follow(export, ExportParams(record.run_id, "merged")).last.result()
        loaded: Any = AutoModelForSequenceClassification.from_pretrained(unpacked(Path(path))).eval()
        encoded = tiny.wordpiece()("the cat sat", return_tensors="pt")
        with torch.no_grad():
            logits = loaded(**encoded).logits[0]
        assert logits.tolist() == pytest.approx(list(answer.adapted.logits), abs=1e-4)

    def test_what_stands_before_training_is_the_teachers_layers(
        self, engine: LocalEngine, asked: RunSpec, teacher: RunRecord
    ) -> None:
        record = finished(engine, replace(asked, student_layers=2))
        predict = Job("explorer.labs.finetune.jobs:predict_run", on="runs")
        of_student, of_teacher = (
            engine.follow(predict, PredictRunParams(run_id, "a cat on the mat")).last.result()
            for run_id in (record.run_id, teacher.run_id)
        )
        assert of_student.base.logits == pytest.approx(of_teacher.adapted.logits, abs=1e-4)

    def test_its_teacher_is_what_it_was(self, engine: LocalEngine, asked: RunSpec, teacher: RunRecord) -> None:
        weights = (engine.runs.store.folder_of(teacher.run_id) / WEIGHTS).read_bytes()
        predict = Job("explorer.labs.finetune.jobs:predict_run", on="runs")
        question = PredictRunParams(teacher.run_id, "the cat sat on the mat")
        before = engine.follow(predict, question).last.result()
        base = {name: tensor.clone() for name, tensor in engine.store.get(asked.model).model.state_dict().items()}
        finished(engine, asked)
        now = engine.store.get(asked.model).model.state_dict()
        assert all(torch.equal(now[name], tensor) for name, tensor in base.items())
        assert (engine.runs.store.folder_of(teacher.run_id) / WEIGHTS).read_bytes() == weights
        other = replace(question, sentence_a="the cat sat on the mat .")
        engine.follow(predict, other).last.result()
        assert engine.follow(predict, question).last.result() == before
