"""Students on plain text as runs: checked, trained, stopped, asked and taken home like any other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from transformers import AutoModelForMaskedLM

from explorer.engine.local import LocalEngine
from explorer.engine.protocol import Job
from explorer.errors import BadInputError
from explorer.labs.distillation.params import LossesParams, SoftTargetsParams
from explorer.labs.finetune.schema import ExportParams, PredictRunParams
from explorer.runs.record import RunRecord, RunStatus
from explorer.runs.store import WEIGHTS
from explorer.settings import Settings
from explorer.tasks.sources import keep_text
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import labels_only
from tests.engine import executing
from tests.engine.executing import WAIT, finished
from tests.models import tiny
from tests.tuning.files.kept import unpacked
from tests.tuning.small import CATS, examples

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples

COMPUTE = "explorer.labs.distillation.jobs"


@pytest.fixture
def text(settings: Settings) -> str:
    return keep_text("\n\n".join(one.text for one in examples(CATS, 60)), settings).name


@pytest.fixture
def asked(model_id: str, text: str) -> RunSpec:
    return RunSpec(model_id, text, "distill_text", epochs=2, hard_weight=0.5, cosine_weight=0.2)


class TestChecking:
    def test_the_number_of_layers_and_the_name_are_settled(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, asked)
        assert record.status is RunStatus.DONE, record.message
        assert record.spec.student_layers == 1
        assert record.name == "1-layer student, soft targets + hidden words + cosine · Masked words"
        assert record.parameters == record.trainable
        folder = engine.runs.store.folder_of(record.run_id)
        assert (folder / WEIGHTS).stat().st_size == pytest.approx(record.checkpoint_bytes, rel=0.2)
        assert engine.runs.store.find(record.run_id) == engine.runs.get(record.run_id)

    def test_what_cannot_be_had_starts_nothing(
        self, engine: LocalEngine, asked: RunSpec, spec: RunSpec, tmp_path: Path
    ) -> None:
        causal = str(tiny.save(tmp_path / "gpt2", "GPT-2"))
        for bad, said in (
            (replace(asked, student_layers=3), "would have 3 layers and can have at most 2"),
            (replace(asked, task=spec.task), "without labels, and not from"),
            (replace(spec, task=asked.task), "has no labels, and LoRA needs them"),
            (replace(asked, model=causal), "fills no masks"),
        ):
            with pytest.raises(BadInputError, match=said):
                engine.runs.start(bad, "ada")
        assert engine.runs.list("ada") == []

    def test_a_text_in_letters_that_the_model_does_not_know(
        self, engine: LocalEngine, asked: RunSpec, settings: Settings
    ) -> None:
        unknown = keep_text(" ".join(f"Zebra{number} !" for number in range(40)), settings).name
        record = finished(engine, replace(asked, task=unknown))
        assert record.status is RunStatus.FAILED
        assert "knows none of the words" in record.message


class TestRunning:
    def test_the_curves_have_the_teachers_line(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, asked)
        assert record.reference.keys() == {"accuracy", "masked_loss"}
        assert all(values.keys() == {"accuracy", "masked_loss", "agreement"} for _, values in record.evaluations)
        assert record.evaluations[0][0] == 0
        assert record.outcome is not None
        assert record.outcome.rows["validation"] >= 12
        assert record.score == record.outcome.metrics["validation"]["accuracy"]
        truths, answers = record.outcome.truths.split(), record.outcome.answers.split()
        assert len(truths) == len(answers) == record.outcome.rows["validation"]
        assert sum(one == other for one, other in zip(truths, answers, strict=True)) / len(truths) == record.score
        again = RunRecord.from_json(record.to_json())
        assert again == record
        alone = finished(engine, labels_only(record.spec))
        assert alone.name == "1-layer student, hidden words · Masked words"
        assert alone.reference == record.reference, "the same words are hidden from both"

    def test_a_stopped_one_is_resumed(self, engine: LocalEngine, asked: RunSpec) -> None:
        run_id = engine.runs.start(replace(asked, epochs=200), "ada")
        while not engine.runs.get(run_id).step and engine.runs.get(run_id).status.is_active:
            pass
        engine.runs.stop(run_id, "ada")
        stopped = engine.runs.wait(run_id, WAIT)
        assert stopped.status is RunStatus.STOPPED, stopped.message
        assert stopped.outcome is not None
        engine.runs.resume(run_id, "ada")
        while engine.runs.get(run_id).step <= stopped.step and engine.runs.get(run_id).status.is_active:
            pass
        engine.runs.stop(run_id, "ada")
        assert engine.runs.wait(run_id, WAIT).step > stopped.step

    def test_it_is_asked_with_a_mask_and_has_no_classes(
        self, engine: LocalEngine, asked: RunSpec, model_id: str
    ) -> None:
        record = finished(engine, asked)
        sentence = "the cat [MASK] on a mat ."
        said = engine.follow(
            Job(f"{COMPUTE}:soft_targets", on="runs"), SoftTargetsParams(sentence, run=record.run_id)
        ).last.result()
        assert said.teacher == record.name
        assert said.classes == len(tiny.WORDS)
        losses = engine.follow(
            Job(f"{COMPUTE}:distillation_losses", on="runs"),
            LossesParams(sentence, model=model_id, run_student=record.run_id),
        ).last.result()
        assert losses.student == record.name
        assert all(loss.value is not None for loss in losses.losses)
        predict = Job("explorer.labs.finetune.jobs:predict_run", on="runs")
        with pytest.raises(BadInputError, match="knows no classes"):
            engine.follow(predict, PredictRunParams(record.run_id, "the cat")).last.result()

    def test_it_goes_home_as_a_checkpoint(self, engine: LocalEngine, asked: RunSpec) -> None:
        record = finished(engine, asked)
        export = Job("explorer.labs.finetune.jobs:export_run", on="runs")
        file = engine.follow(export, ExportParams(record.run_id, "merged")).last.result()
        folder = unpacked(Path(file))
        model = AutoModelForMaskedLM.from_pretrained(folder)
        assert model.config.num_hidden_layers == 1
        assert "Hidden words" in (folder / "README.md").read_text()
