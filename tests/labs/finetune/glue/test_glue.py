"""GLUE as a whole: which run stands in a row, which averages are made, and what the sentence says of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from explorer.labs.finetune.glue import (
    PUBLISHED,
    GlueParams,
    GlueResult,
    glue_notes,
    glue_sentence,
    glue_table,
    glue_view,
)
from explorer.labs.finetune.glue_live import gathered
from explorer.models.published import BERT_TABLE_1
from explorer.published import lora
from explorer.runs.examples import OWNER
from explorer.runs.record import OnRealTask, Outcome, RunRecord, RunStatus
from explorer.tasks.glue_tasks import TASKS
from explorer.tuning.spec import RunSpec
from tests.labs.finetune.records import record
from tests.rows import each_row

SLUGS = [task.slug for task in TASKS if task.slug != "wnli"]
METRIC = {task.slug: task.metrics[0] for task in TASKS}


def run(task: str, score: float | None, **changes: Any) -> RunRecord:
    """A finished run of a task with one validation split of ten rows."""
    metric = METRIC[task.removesuffix("@hub")]
    values: dict[str, Any] = {
        "run_id": f"r-{task}-{score}",
        "spec": RunSpec("bert-mini", task),
        "metrics": (metric,),
        "outcome": Outcome({"validation": {metric: score}}, {"validation": 10}),
    }
    return record(**{**values, **changes})


def of(*records: RunRecord) -> GlueResult:
    return gathered(records, GlueParams())


def said(*records: RunRecord) -> str:
    return glue_sentence(of(*records)).striptags()


def noted(*records: RunRecord) -> str:
    result = of(*records)
    assert glue_notes(result) in glue_view(result)
    return glue_notes(result).striptags()


def best(task: str, *records: RunRecord) -> str | None:
    found = next(one for one in of(*records).tasks if one.name.replace("-", "").lower() == task)
    return found.reached.run_id if found.reached else None


def test_every_task_has_its_column_of_the_paper_and_its_number_of_examples() -> None:
    result = of()
    assert [task.name for task in result.tasks] == ["CoLA", "SST-2", "MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE"]
    assert {task.name for task in result.tasks} == set(BERT_TABLE_1) == set(lora.GLUE)
    published = {task.name: task.published for task in result.tasks}
    assert (published["MNLI"], published["STS-B"]) == (87.5, 91.5)
    assert {task.metric for task in result.tasks} == {"Accuracy", "Matthews correlation", "Pearson correlation"}
    assert glue_table(result).rows[5] == ("MNLI", "Accuracy", "392k", *[None] * 7, 87.5)


@each_row("name", PUBLISHED)
def test_any_published_row_may_stand_beside(name: str) -> None:
    result = gathered([], GlueParams(name))
    assert (result.beside, result.average) == (PUBLISHED[name].name, PUBLISHED[name].average)
    assert sorted(task.published for task in result.tasks) == sorted(PUBLISHED[name].scores)


def test_the_better_run_stands_in_the_row() -> None:
    assert best("sst2", run("sst2", 0.7), run("sst2", 0.8), run("mrpc", 0.9)) == "r-sst2-0.8"


def test_the_visitors_own_go_before_a_worked_example_and_glues_files_before_bundled_ones() -> None:
    worked, own, real = run("sst2", 0.99, owner=OWNER), run("sst2", 0.7), run("sst2@hub", 0.6)
    assert best("sst2", worked, own) == "r-sst2-0.7"
    assert best("sst2", worked, own, real) == "r-sst2@hub-0.6"
    assert best("sst2", worked) == "r-sst2-0.99"


@each_row(
    "other",
    [
        run("sst2", 0.9, status=RunStatus.RUNNING),
        run("sst2", 0.9, status=RunStatus.FAILED),
        run("sst2", 0.9, outcome=None),
        run("cola", 0.9, spec=RunSpec("bert-mini", "wnli")),
        run("cola", 0.9, spec=RunSpec("bert-mini", "file-0123456789ab")),
        run("cola", None),
    ],
)
def test_what_is_unfinished_undefined_or_of_no_such_task_stands_in_no_row(other: RunRecord) -> None:
    assert all(task.reached is None for task in of(other).tasks)


def test_mnlis_two_sets_count_by_their_examples() -> None:
    outcome = Outcome(
        {"matched": {"accuracy": 0.5}, "mismatched": {"accuracy": 0.8}}, {"matched": 100, "mismatched": 200}
    )
    reached = of(run("mnli@hub", 0.0, outcome=outcome)).tasks[5].reached
    assert reached is not None
    assert reached.score == pytest.approx(70.0)
    assert (reached.rows, reached.real) == (300, True)


def test_with_no_run_the_sentence_has_the_papers_average_alone() -> None:
    assert said() == "No task of GLUE has a finished run yet."
    assert noted() == "RoBERTa-base, LoRA 0.3M has 87.2 over all 8, on GLUE itself."


def test_one_of_bundled_sentences_is_not_comparable() -> None:
    assert said(run("sst2", 0.912)) == "1 of GLUE's 8 tasks has a finished run."
    assert noted(run("sst2", 0.912)) == (
        "SST-2's 91.2 is of bundled sentences, so it is not comparable with GLUE's. "
        "RoBERTa-base, LoRA 0.3M has 87.2 over all 8, on GLUE itself."
    )


def test_two_of_bundled_sentences_have_an_average_of_their_own() -> None:
    assert "Over the 2 that are judged on bundled sentences the average is 80.0, which is not comparable" in noted(
        run("sst2", 0.9), run("rte", 0.7)
    )
    assert said(run("sst2", 0.9), run("rte", 0.7)) == "2 of GLUE's 8 tasks have a finished run."


def test_of_glues_own_files_the_papers_average_is_over_the_same_tasks() -> None:
    one = noted(run("rte@hub", 0.7))
    assert "On GLUE's own RTE it reaches 70.0, where RoBERTa-base, LoRA 0.3M has 86.6." in one
    two = noted(run("rte@hub", 0.7), run("cola@hub", 0.5))
    assert "Over the 2 that are judged on GLUE's own files the average is 60.0, where" in two
    assert "LoRA 0.3M has 75.0 over the same." in two  # (86.6 + 63.4) / 2
    assert "87.2" not in two
    assert "not comparable" not in two


def test_both_kinds_have_an_average_each_and_none_is_of_both() -> None:
    mixed = run("rte@hub", 0.7), run("cola@hub", 0.5), run("sst2", 0.9), run("mrpc", 0.8)
    assert "average is 60.0, where" in noted(*mixed)
    assert "on bundled sentences the average is 85.0, which is not comparable" in noted(*mixed)
    view = glue_view(of(*mixed))
    assert "<strong>60.0</strong> over 2 tasks of GLUE<br><strong>85.0</strong> over 2 tasks bundled here" in view


def test_the_average_of_all_eight_stands_beside_the_printed_one() -> None:
    eight = [run(f"{slug}@hub", 0.8) for slug in SLUGS]
    assert "Their average on GLUE's own files is 80.0, where RoBERTa-base, LoRA 0.3M has 87.2." in noted(*eight)
    seven = noted(*eight[:-1])
    assert "Over the 7 that are judged" in seven
    assert "87.2" not in seven


def test_a_bundled_run_says_what_it_scores_on_glues_own_file() -> None:
    real = OnRealTask("SST-2", "dev.tsv", "0", 872, {"accuracy": 0.776}, "2026-11-01", "python")
    result = of(run("sst2", 0.9, real=(real,)))
    assert "77.6 on GLUE&#39;s 872" in glue_view(result)
    assert dict(zip(glue_table(result).columns, glue_table(result).rows[1], strict=True))["on_glue"] == pytest.approx(
        77.6
    )
    other = replace(real, title="MRPC")
    assert "GLUE&#39;s 872" not in glue_view(of(run("sst2", 0.9, real=(other,))))


def test_what_a_run_was_judged_on_stands_in_its_row() -> None:
    bundled, real = glue_view(of(run("sst2", 0.9))), glue_view(of(run("sst2@hub", 0.9)))
    assert "on 10 bundled, not comparable" in bundled
    assert "on GLUE&#39;s 10" in real
    assert "bundled, not comparable" not in real
    assert 'href="finetune?run=r-sst2-0.9"' in bundled
