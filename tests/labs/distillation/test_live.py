"""Students started and followed through the page's live actions, on a tiny model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError, ExplorerError
from explorer.labs.distillation import ABLATE, DISTILL, STUDENT_SEEDS, ablation_figures, live
from explorer.labs.distillation import train_jobs as measuring
from explorer.labs.distillation.params import AblationParams, DistillParams, FollowStudentParams, TimedStudentParams
from explorer.labs.distillation.train import MeasureParams
from explorer.runs.comparing import require_success
from explorer.runs.examples import COMPANIONS, EVERY
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import Settings
from explorer.tuning.spec import RunSpec
from tests.engine import executing
from tests.engine.executing import finished
from tests.engine.records import record
from tests.tuning.small import CATS, examples

model_id, settings, task, spec = executing.model_id, executing.settings, executing.task, executing.spec
engine, no_examples = executing.engine, executing.no_examples
OWNER = "ada"


@pytest.fixture(autouse=True)
def own_settings(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(measuring, "settings", lambda: settings)


@pytest.fixture
def teacher(engine: LocalEngine, spec: RunSpec) -> RunRecord:
    return finished(engine, spec)


def last(results: Iterator[Any]) -> Any:
    found = None
    for result in results:
        found = result if result is not None else found
        time.sleep(0.01)
    return found


def test_a_student_and_its_companion_train_and_are_measured(engine: LocalEngine, teacher: RunRecord) -> None:
    result = last(live.distill(engine, DistillParams(teacher.run_id, epochs=1), OWNER))
    require_success(result)
    student, alone = result.students
    assert (student.spec.soft_weight, student.spec.hard_weight) == (1.0, 0.0)
    assert (alone.spec.soft_weight, alone.spec.hard_weight) == (0.0, 1.0)
    assert student.spec.student_layers == alone.spec.student_layers == 1
    assert result.teacher.run_id == teacher.run_id
    of_teacher, of_student, of_alone = result.sizes
    assert of_student.parameters == student.parameters == of_alone.parameters < of_teacher.parameters
    assert of_student.bytes == 4 * of_student.parameters
    assert all(milliseconds > 0 for size in result.sizes for milliseconds in size.milliseconds)
    table = DISTILL.table(result)
    assert table.columns == ("step", "loss", "metric")
    assert [row[0] for row in table.rows] == list(range(student.steps + 1))
    listed = [record.run_id for record in engine.runs.list(OWNER)]
    assert {student.run_id, alone.run_id} <= set(listed)


def test_one_that_was_started_earlier_is_found_with_its_companion(engine: LocalEngine, teacher: RunRecord) -> None:
    started = last(live.distill(engine, DistillParams(teacher.run_id, epochs=1, alpha=0.5), OWNER))
    again = last(live.follow_student(engine, TimedStudentParams(started.students[0].run_id), "somebody"))
    assert [one.run_id for one in again.students] == [one.run_id for one in started.students]
    assert again.sizes
    assert not again.can_be_timed
    untimed = last(live.follow_student(engine, TimedStudentParams(started.students[0].run_id, timed=False), OWNER))
    assert untimed.can_be_timed
    assert not untimed.sizes
    alone = last(live.follow_student(engine, TimedStudentParams(started.students[1].run_id), OWNER))
    assert [one.run_id for one in alone.students] == [started.students[1].run_id]
    with pytest.raises(BadInputError, match="is no student"):
        last(live.follow_student(engine, TimedStudentParams(teacher.run_id), OWNER))


class TestSeeds:
    @pytest.fixture
    def started(self, engine: LocalEngine, teacher: RunRecord) -> Any:
        params = DistillParams(teacher.run_id, epochs=1, alpha=0.5, labelled=8, seed=3, seeds=2, examples=24)
        return last(live.distill(engine, params, OWNER))

    def test_every_seed_is_trained_with_and_without_the_teacher(self, started: Any) -> None:
        require_success(started)
        specs = [record.spec for record in started.records]
        assert [(one.seed, one.soft_weight) for one in specs] == [(3, 0.5), (3, 0.0), (4, 0.5), (4, 0.0)]
        assert {(one.labelled, one.examples) for one in specs} == {(8, 24)}
        assert [record.examples for record in started.records] == [24] * 4
        assert len(started.students) == 2
        assert len(started.sizes) == 3

    def test_they_are_found_again_from_any_of_them(self, engine: LocalEngine, started: Any) -> None:
        ids = [record.run_id for record in started.records]
        for first in (ids[0], ids[2]):
            found = last(live.student_seeds(engine, FollowStudentParams(first), "somebody"))
            assert [[one.run_id for one in pair] for pair in found.pairs] == [ids[:2], ids[2:]]
            assert found.interval is not None
            again = last(live.follow_student(engine, TimedStudentParams(first), OWNER))
            assert again.students[0].run_id == first
            assert {one.run_id for one in again.records} == set(ids)
        table = STUDENT_SEEDS.table(found)
        assert [row[0] for row in table.rows] == [3, 4]

    def test_another_setting_is_another_comparison(self, engine: LocalEngine, started: Any) -> None:
        teacher = str(started.teacher.run_id)
        other = DistillParams(teacher, epochs=1, alpha=0.5, labelled=7, seed=5, examples=24)
        alone = last(live.distill(engine, other, OWNER))
        found = last(live.student_seeds(engine, FollowStudentParams(alone.students[0].run_id), OWNER))
        assert [pair[0].spec.labelled for pair in found.pairs] == [7]

    @pytest.mark.parametrize("missing", ["", EVERY[1], COMPANIONS[EVERY[2]]])
    def test_a_worked_example_is_shown_with_the_seeds_that_are_there(self, missing: str) -> None:
        def get(run_id: str) -> RunRecord:
            if run_id == missing:
                raise ExplorerError(f"No run is called {run_id}.")
            return record(run_id=run_id)

        engine: Any = SimpleNamespace(runs=SimpleNamespace(get=get))
        found = live.seeds_of(engine, get(EVERY[0]))
        assert found == tuple(pair for name in EVERY if missing not in (pair := (name, COMPANIONS[name])))

    @pytest.mark.parametrize("seeds", [0, 21, 1.5, "many"])
    def test_a_number_of_seeds_out_of_range(self, seeds: Any) -> None:
        with pytest.raises(BadInputError, match="seeds"):
            DistillParams(seeds=seeds)


def test_a_bad_setting_starts_nothing(engine: LocalEngine, teacher: RunRecord) -> None:
    before = len(engine.runs.list(OWNER))
    for params, said in (
        (DistillParams(teacher.run_id, student_layers=3), "at most 2"),
        (DistillParams("r000000000000"), "No run is called"),
        (DistillParams(teacher.run_id, task="sst2"), "another task"),
        (DistillParams(teacher.run_id, student="no/model"), "no/model"),
    ):
        with pytest.raises(ExplorerError, match=said):
            last(live.distill(engine, params, OWNER))
    assert len(engine.runs.list(OWNER)) == before


def test_a_failed_student_is_told_to_clients(engine: LocalEngine, teacher: RunRecord) -> None:
    result = last(live.distill(engine, DistillParams(teacher.run_id, epochs=1, learning_rate=1e6), OWNER))
    assert RunStatus.FAILED in {record.status for record in result.students}
    with pytest.raises(ExplorerError, match="diverged"):
        require_success(result)


def test_the_ablation_queues_a_student_a_line(engine: LocalEngine, teacher: RunRecord) -> None:
    result = last(live.ablate(engine, AblationParams(teacher.run_id, epochs=1, examples=24, labelled=8), OWNER))
    require_success(result)
    specs = [record.spec for record in result.records]
    weights = [(one.soft_weight, one.hard_weight, one.cosine_weight) for one in specs]
    assert weights == [(5, 2, 1), (0, 2, 1), (5, 2, 0), (5, 0, 1), (5, 2, 1)]
    assert [one.start for one in specs] == ["teacher"] * 4 + ["random"]
    assert {(one.seed, one.labelled) for one in specs} == {(0, 8)}
    table = ABLATE.table(result)
    assert [row[0] for row in table.rows] == ["all", "no-soft", "no-cosine", "no-hard", "random"]
    assert table.rows[0][4] == 0


TEXT = "\n\n".join(one.text for one in examples(CATS, 60))


class TestOnText:
    @pytest.fixture(autouse=True)
    def own_files(self, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
        monkeypatch.setattr(live, "settings", lambda: settings)

    def test_a_student_fills_masks_beside_the_whole_model(self, engine: LocalEngine, model_id: str) -> None:
        params = DistillParams(model=model_id, text=TEXT, epochs=1, alpha=0.7, cosine=0.15)
        result = last(live.distill(engine, params, OWNER))
        require_success(result)
        assert result.on_text
        student, alone = result.students
        assert student.spec.method == alone.spec.method == "distill_text"
        assert (alone.spec.soft_weight, alone.spec.hard_weight, alone.spec.cosine_weight) == (0.0, 1.0, 0.0)
        assert result.teacher_scores == student.reference
        whole, of_student, _ = result.sizes
        assert whole.run_id == ""
        assert whole.parameters > of_student.parameters == student.parameters
        again = last(live.follow_student(engine, TimedStudentParams(student.run_id), OWNER))
        assert [one.run_id for one in again.students] == [student.run_id, alone.run_id]
        assert again.on_text
        kept = last(live.distill(engine, DistillParams(model=model_id, task=student.spec.task, epochs=1), OWNER))
        assert kept.on_text, "the text that was pasted is a task from then on"

    def test_the_ablation_leaves_out_each_term(self, engine: LocalEngine, model_id: str) -> None:
        params = AblationParams(model=model_id, text=TEXT, epochs=1, examples=16, seeds=2)
        result = last(live.ablate(engine, params, OWNER))
        require_success(result)
        assert {one.spec.method for one in result.records} == {"distill_text"}
        said = ablation_figures.ablation_list(result).striptags()
        assert "without the hidden words" in said
        assert "take the place" not in said

    def test_what_is_refused_starts_nothing(self, engine: LocalEngine, model_id: str) -> None:
        for changes, said in (
            ({"text": "Too short."}, "at least 8 are needed"),
            ({"text": TEXT, "student": "bert-small"}, "Leave the student's model empty"),
            ({"text": TEXT, "student_layers": 3}, "at most 2"),
            ({"text": TEXT, "model": "no/model"}, "no/model"),
        ):
            with pytest.raises(ExplorerError, match=said):
                last(live.distill(engine, DistillParams(**{"model": model_id, **changes}), OWNER))
        assert engine.runs.list(OWNER) == []


def test_adapters_that_cannot_be_merged_are_timed_as_they_are(engine: LocalEngine, spec: RunSpec) -> None:
    run = finished(engine, replace(spec, method="houlsby", bottleneck=8))
    (size,) = engine.follow(live.MEASURE, MeasureParams((run.run_id,))).last.result()
    assert size.parameters == run.parameters
