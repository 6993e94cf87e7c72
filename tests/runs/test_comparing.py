"""Runs compared on the same rows, and what is said where their answers were not kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest, norm

from explorer.runs.comparing import compare, every_pair, without_a_test
from explorer.runs.examples import BY_METHOD, BY_RANK, EXAMPLES, FIRST
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.settings import BUNDLED_RUNS
from explorer.tasks.glue_tasks import TASKS
from explorer.tasks.metrics import METRICS
from tests.engine.records import record
from tests.rows import each_row

ROWS = 100


def run(right: list[bool], name: str = "r0") -> RunRecord:
    """A run of two classes, with the right answer where it says so; the truth is 0 and 1 in turn."""
    truths = [row % 2 for row in range(len(right))]
    answers = [truth if hit else 1 - truth for truth, hit in zip(truths, right, strict=True)]
    outcome = Outcome(
        {"validation": {"accuracy": sum(right) / len(right)}},
        {"validation": len(right)},
        truths=" ".join(map(str, truths)),
        answers=" ".join(map(str, answers)),
    )
    return record(name, status=RunStatus.DONE, metrics=("accuracy",), outcome=outcome)


def wrong_at(*places: int) -> list[bool]:
    return [row not in places for row in range(ROWS)]


def test_two_accuracies_are_compared_row_by_row() -> None:
    pair = [run(wrong_at(*range(12))), run(wrong_at(*range(4)))]
    verdict = compare(pair, every_pair(pair))
    assert (verdict.test, verdict.rows) == ("mcnemar", ROWS)
    assert verdict.p == {(0, 1): pytest.approx(binomtest(0, 8).pvalue)}
    scattered = [run(wrong_at(*range(12))), run(wrong_at(*range(50, 54)))]
    assert compare(scattered, every_pair(scattered)).p[0, 1] > 0.05, "the same accuracies, other rows"


def test_more_comparisons_need_more_evidence() -> None:
    pair = [run(wrong_at(*range(12))), run(wrong_at(*range(4)))]
    many = [*pair, *(run(wrong_at(*range(4), 20 + place)) for place in range(4))]
    assert compare(many, every_pair(many)).p[0, 1] > compare(pair, every_pair(pair)).p[0, 1]


def test_without_answers_the_difference_of_two_independent_accuracies_is_used() -> None:
    pair = [run(wrong_at(*range(20))), run(wrong_at(*range(10)))]
    old = [one.evolve(outcome=replace(one.outcome, truths="", answers="")) for one in pair]
    verdict = compare(old, every_pair(old))
    assert verdict.test == "unpaired"
    assert not verdict.p
    assert verdict.threshold == pytest.approx(norm.ppf(0.975) * np.sqrt(2 * 0.9 * 0.1 / ROWS))
    assert "were not all kept" in without_a_test(verdict)
    assert compare([old[0], pair[1]], [(0, 1)]).test == "unpaired", "one of the two is not enough"


def test_answers_to_other_rows_are_never_paired() -> None:
    one, other = run(wrong_at(1)), run(wrong_at(2))
    assert other.outcome is not None
    other = other.evolve(outcome=replace(other.outcome, truths=" ".join(["1"] * ROWS)))
    assert compare([one, other], [(0, 1)]).test == "unpaired"


def test_a_correlation_is_compared_by_drawing_the_rows_again_and_not_at_all_without_answers() -> None:
    draw = np.random.default_rng(0)
    truth = draw.uniform(0, 5, 120)
    runs = []
    for noise in (0.2, 2.0):
        said = truth + noise * draw.normal(size=120)
        outcome = Outcome(
            {"validation": {"pearson": float(np.corrcoef(truth, said)[0, 1]), "spearman": None}},
            {"validation": 120},
            truths=" ".join(f"{value:.6g}" for value in truth),
            answers=" ".join(f"{value:.6g}" for value in said),
        )
        runs.append(record(f"r{noise}", status=RunStatus.DONE, metrics=("pearson", "spearman"), outcome=outcome))
    verdict = compare(runs, every_pair(runs))
    assert verdict.test == "bootstrap"
    assert verdict.p[0, 1] < 0.001
    assert compare([runs[0], runs[0]], [(0, 1)]).p[0, 1] == 1.0
    old = [one.evolve(outcome=replace(one.outcome, truths="", answers="")) for one in runs]
    assert compare(old, [(0, 1)]).test == ""
    assert "cannot be said" in without_a_test(compare(old, [(0, 1)]))


def bundled(run_id: str) -> RunRecord:
    return RunRecord.from_json((BUNDLED_RUNS / run_id / "record.json").read_text(encoding="utf-8"))


ON_A_TASK = [worked.run_id for worked in EXAMPLES if worked.spec.task in {task.slug for task in TASKS}]


@each_row("run_id", ON_A_TASK)
def test_a_worked_example_keeps_its_answers_and_scores_what_they_score(run_id: str) -> None:
    found = bundled(run_id)
    assert found.outcome is not None
    truths, answers = ([float(said) for said in text.split()] for text in (found.outcome.truths, found.outcome.answers))
    assert METRICS[found.leading_metric].compute(truths, answers) == pytest.approx(found.score)
    counts = [[0] * len(found.outcome.confusion) for _ in found.outcome.confusion]
    for true, guess in zip(truths, answers, strict=True):
        counts[int(true)][int(guess)] += 1
    assert tuple(map(tuple, counts)) == found.outcome.confusion


@pytest.mark.parametrize("names", [BY_METHOD.values(), BY_RANK.values()], ids=["methods", "ranks"])
def test_worked_examples_are_compared_on_the_same_rows(names: Iterable[str]) -> None:
    records = [bundled(run_id) for run_id in names]
    assert FIRST in {record.run_id for record in records}
    verdict = compare(records, every_pair(records))
    assert (verdict.test, verdict.rows) == ("mcnemar", 160)
