"""The table of tasks against what the papers and the hub say of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from explorer.errors import BadInputError
from explorer.tasks.glue_tasks import TASKS, find_task
from explorer.tasks.metrics import METRICS

OFFICIAL = {
    "cola": ["matthews"],
    "sst2": ["accuracy"],
    "mrpc": ["accuracy", "f1"],
    "qqp": ["accuracy", "f1"],
    "stsb": ["pearson", "spearman"],
    "mnli": ["accuracy"],
    "qnli": ["accuracy"],
    "rte": ["accuracy"],
    "wnli": ["accuracy"],
}


def test_every_task_has_glues_official_metrics() -> None:
    assert {task.slug: list(task.metrics) for task in TASKS} == OFFICIAL
    assert all(name in METRICS for task in TASKS for name in task.metrics)


def test_the_positive_class_of_f1_is_the_one_that_is_looked_for() -> None:
    assert find_task("mrpc").labels[1] == "equivalent"
    assert find_task("qqp").labels[1] == "duplicate"


def test_entailment_is_class_0_but_for_wnli() -> None:
    assert [find_task(slug).labels.index("entailment") for slug in ("mnli", "qnli", "rte", "wnli")] == [0, 0, 0, 1]


def test_only_sts_b_is_a_regression_and_only_two_tasks_have_one_text() -> None:
    assert [task.slug for task in TASKS if task.is_regression] == ["stsb"]
    assert [task.slug for task in TASKS if not task.is_pair] == ["cola", "sst2"]


def test_each_says_what_it_asks_and_where_it_comes_from() -> None:
    for task in TASKS:
        assert task.question.endswith("?")
        assert any(character.isdigit() for character in task.source), f"{task.slug} cites no year"


def test_an_unknown_task_is_answered_with_the_list() -> None:
    with pytest.raises(BadInputError, match=r"sst-2.*cola, sst2"):
        find_task("sst-2")


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    modules = "metrics, sources"
    heavy = "{'torch', 'transformers', 'numpy', 'sklearn', 'scipy', 'pandas', 'datasets'}"
    code = f"import sys; from explorer.tasks import {modules}; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
