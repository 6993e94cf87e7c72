"""The students that come with the app: trained with the settings that the code names, and what they say together."""

from __future__ import annotations

import pytest

from explorer.labs.distillation.train import Seeded
from explorer.runs.examples import BY_ABLATION, COMPANIONS, EVERY, EXAMPLES, FEW, FIRST, SEEDS, Worked
from explorer.runs.record import RunRecord, RunStatus
from explorer.settings import BUNDLED_RUNS
from explorer.tuning.students import is_student
from tests.rows import each_row

STUDENTS = [worked for worked in EXAMPLES if is_student(worked.spec)]


def bundled(run_id: str) -> RunRecord:
    return RunRecord.from_json((BUNDLED_RUNS / run_id / "record.json").read_text(encoding="utf-8"))


@each_row("worked", STUDENTS, ids=lambda worked: worked.run_id)
def test_each_was_trained_with_its_settings(worked: Worked) -> None:
    record = bundled(worked.run_id)
    assert record.spec == worked.spec
    assert record.status is RunStatus.DONE


@pytest.mark.parametrize(("names", "seeds"), [(FEW, SEEDS), (EVERY, 3)], ids=["few labels", "all labels"])
def test_they_are_pairs_of_one_seed_measured_on_the_same_examples(names: tuple[str, ...], seeds: int) -> None:
    result = seeded(names)
    assert [pair[0].spec.seed for pair in result.pairs] == list(range(seeds))
    assert all(one.spec.seed == other.spec.seed for one, other in result.pairs)
    assert {tuple(record.outcome.rows.items()) for pair in result.pairs for record in pair if record.outcome} == {
        (("validation", 160),)
    }
    assert {record.steps for pair in result.pairs for record in pair} == {90}


def seeded(names: tuple[str, ...]) -> Seeded:
    return Seeded(bundled(FIRST), tuple((bundled(name), bundled(COMPANIONS[name])) for name in names))


def test_the_page_opens_where_the_teacher_helps_beyond_chance() -> None:
    interval = seeded(FEW).interval
    assert interval is not None
    assert interval.direction == 1


def test_students_that_begin_from_the_teachers_layers_reach_more_than_those_that_do_not() -> None:
    apart = [bundled(name).score or 1.0 for name in FEW]
    assert (bundled(BY_ABLATION["all"]).score or 0.0) > max(apart), "as the ablation's page says of the other tab"
