"""Runs in one plot: of one task at first, and only those whose numbers mean the same."""

from __future__ import annotations

from dataclasses import replace

from explorer.labs.finetune.runs_figures import comparable, of_one_task, runs_figure, runs_sentence
from explorer.runs.record import RunRecord
from explorer.tasks.task import WRITTEN
from explorer.tuning.spec import RunSpec
from tests.labs.finetune.records import record, regression

FIRST = record(name="LoRA · SST-2")
SECOND = record(run_id="r1", name="BitFit · SST-2")
OTHER_TASK = record(run_id="r2", name="LoRA · RTE", spec=RunSpec("bert-small", task="rte"))
SCORES = regression(run_id="r3", name="LoRA · STS-B", spec=RunSpec("bert-small", task="stsb"))
TEXTS = record(run_id="r4", name="LoRA · E2E", metrics=("BLEU",), kind=WRITTEN, spec=RunSpec("gpt2-mini", task="e2e"))
STUDENT = record(run_id="r5", name="Student", spec=replace(FIRST.spec, teacher="r0"))


def test_the_tab_opens_with_runs_of_the_first_one_s_task() -> None:
    without = record(run_id="r6", losses=())
    assert of_one_task([without, FIRST, TEXTS, SECOND, OTHER_TASK, STUDENT]) == [FIRST, SECOND]
    assert of_one_task([TEXTS, FIRST]) == [TEXTS]
    assert len(of_one_task([replace(FIRST, run_id=f"r{number}") for number in range(9)])) == 3
    assert of_one_task([]) == of_one_task([without]) == []


def test_what_is_measured_or_learned_otherwise_needs_axes_of_its_own() -> None:
    chosen = [FIRST, TEXTS, OTHER_TASK, SCORES, STUDENT]
    assert comparable(chosen) == ([FIRST, OTHER_TASK], [TEXTS, SCORES, STUDENT])
    figure = str(runs_figure(chosen))
    assert "RTE" in figure
    assert "E2E" not in figure


def test_two_lines_of_one_method_have_two_names() -> None:
    again, seeded = replace(FIRST, run_id="r7abcdef"), record(run_id="r8", name="LoRA · SST-2 · seed 1")
    assert named([FIRST, SECOND]) == {"LoRA", "BitFit"}
    assert named([FIRST, seeded, SECOND]) == {"LoRA", "LoRA · seed 1", "BitFit"}
    assert named([FIRST, again]) == {f"LoRA · SST-2 · {FIRST.run_id[:5]}", "LoRA · SST-2 · r7abc"}
    assert named([FIRST, OTHER_TASK]) == {"LoRA · SST-2", "LoRA · RTE"}


def named(records: list[RunRecord]) -> set[str]:
    """What the legend says."""
    figure = runs_figure(records)
    assert not isinstance(figure, str)
    return {trace["name"] for trace in figure["data"] if trace.get("showlegend") is not False}


def test_those_left_out_are_named_with_their_metric() -> None:
    assert "Not drawn" not in runs_sentence([FIRST, SECOND])
    assert "accuracy on held-out rows" in runs_sentence([FIRST, SECOND])
    assert "Not drawn: “LoRA · E2E” (BLEU), whose metric or loss is of another kind" in runs_sentence([FIRST, TEXTS])
    many = runs_sentence([FIRST, *(replace(TEXTS, run_id=f"r{number}") for number in range(10, 15))])
    assert "(BLEU) and 2 more, whose metrics or losses are of other kinds" in many


def test_nothing_chosen_draws_nothing() -> None:
    assert runs_figure([]) == ""
    assert "Choose runs" in runs_sentence([])
