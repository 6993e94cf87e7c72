"""A sweep's figure, sentence and tables, from made-up records."""

from __future__ import annotations

from dataclasses import replace
from statistics import stdev

import pytest
from scipy.stats import ttest_1samp

from explorer.labs.finetune import sweep_figures as figures
from explorer.labs.finetune.sweep import Sweep, sweep_table
from explorer.runs.comparing import Compared
from explorer.runs.examples import RANK_EPOCHS, RANK_SEEDS, RANKS, of_rank
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.settings import BUNDLED_RUNS
from explorer.tuning.spec import RunSpec
from tests.labs.drawing import HOSTILE, assert_draws
from tests.labs.finetune.records import record
from tests.rows import each_row


def run(score: float | None, **changes: object) -> RunRecord:
    """A run of a sweep; one without a score still waits."""
    spec = RunSpec("bert-mini", **changes)  # type: ignore[arg-type]
    name = f"r{abs(hash(spec)):x}"[:12]
    if score is None:
        return record(run_id=name, spec=spec, status=RunStatus.QUEUED, outcome=None, evaluations=())
    return record(run_id=name, spec=spec, outcome=Outcome({"validation": {"accuracy": score}}, {"validation": 100}))


def rates(scores: dict[tuple[str, float], tuple[float, ...]]) -> Sweep:
    runs = [
        run(score, method=method, learning_rate=rate, seed=seed)
        for (method, rate), each in scores.items()
        for seed, score in enumerate(each)
    ]
    return Sweep("learning_rate", Compared(tuple(runs)))


BOTH = {
    ("lora", 1e-3): (0.90, 0.92, 0.91),
    ("full", 1e-3): (0.50, 0.52, 0.60),
    ("lora", 1e-4): (0.80, 0.83, 0.80),
    ("full", 1e-4): (0.91, 0.88, 0.93),
}


def test_a_line_a_method_through_the_means_with_every_seed_beside() -> None:
    drawn = assert_draws(figures.sweep_figure(rates(BOTH)))
    seeds, means = drawn.data[0], drawn.data[1]
    assert list(means.x) == [1e-4, 1e-3]
    assert list(means.y) == pytest.approx([0.81, 0.91])
    assert list(means.error_y.array) == pytest.approx([stdev((0.80, 0.83, 0.80)), stdev((0.90, 0.92, 0.91))])
    assert sorted(seeds.y) == [0.80, 0.80, 0.83, 0.90, 0.91, 0.92]
    assert drawn.layout.xaxis.type == "log"
    assert [trace.name for trace in drawn.data if trace.showlegend is not False] == ["LoRA", "Full fine-tuning"]


def test_the_best_value_is_told_with_an_interval_over_the_seeds() -> None:
    said = figures.sweep_sentence(rates(BOTH)).striptags()
    interval = ttest_1samp([0.10, 0.09, 0.11], 0).confidence_interval()
    assert said == "LoRA is best at learning rate 0.001, Full fine-tuning at 0.0001."
    lora = rates({key: scores for key, scores in BOTH.items() if key[0] == "lora"})
    said = figures.sweep_sentence(lora).striptags()
    assert said == "LoRA: best at learning rate 0.001, ahead of 0.0001 by more than chance."
    alike = figures.sweep_sentence(rates({("lora", 1e-3): (0.9,), ("full", 1e-3): (0.8,)})).striptags()
    assert alike == "LoRA is best at learning rate 0.001, as is Full fine-tuning."
    said = figures.sweep_rows(rates(BOTH)).striptags()
    assert "LoRA, 0.001: accuracy 91.0%, mean of 3 seeds, standard deviation 1.0 points; " in said
    low, high = 100 * interval.low, 100 * interval.high
    assert f"10.0 points ahead of 0.0001, beyond chance (95% interval {low:.1f} to {high:.1f} points over 3" in said
    assert "LoRA's best rate here is 10 times full fine-tuning's" in said
    near = rates({("lora", 1e-3): (0.90, 0.80, 0.91), ("lora", 1e-4): (0.88, 0.83, 0.87)})
    assert "its lead over 0.0001 could be chance" in figures.sweep_sentence(near).striptags()
    assert "times full" not in figures.sweep_rows(near).striptags()
    level = rates({("lora", 1e-3): (0.9, 0.8), ("lora", 1e-4): (0.8, 0.9)})
    assert figures.sweep_sentence(level).striptags().endswith("best at learning rate 0.0001, as at 0.001.")


def test_of_more_than_two_methods_the_highest_is_named() -> None:
    scores = {("lora", 1e-3): (0.9,), ("full", 1e-3): (0.8,), ("head", 1e-3): (0.7,)}
    assert figures.sweep_sentence(rates(scores)).striptags() == "Highest is LoRA at learning rate 0.001."
    level = figures.sweep_sentence(rates(scores | {("full", 1e-4): (0.9,)})).striptags()
    assert level == "Highest is Full fine-tuning at learning rate 0.0001, level with another."
    none = record(status=RunStatus.FAILED, outcome=None, evaluations=())
    assert figures.sweep_sentence(Sweep("rank", Compared((none,)))) == "No run has a score."


def test_one_seed_is_said_to_say_little() -> None:
    sweep = rates({("lora", 1e-3): (0.9,), ("lora", 1e-4): (0.8,)})
    assert figures.sweep_sentence(sweep).striptags() == "LoRA: best at learning rate 0.001, by one seed alone."
    assert "One seed says little: repeat with three." in figures.sweep_notes(sweep)


def test_runs_that_wait_are_no_points() -> None:
    sweep = Sweep("rank", Compared((run(0.9, rank=8), run(None, rank=64))))
    assert figures.sweep_sentence(sweep).striptags() == "1 of 2 runs have ended."
    going = replace(run(None, rank=64), status=RunStatus.RUNNING)
    assert "Now " in figures.sweep_notes(Sweep("rank", Compared((run(0.9, rank=8), going))))
    assert list(assert_draws(figures.sweep_figure(sweep)).data[1].x) == [8]
    assert figures.sweep_figure(Sweep("rank", Compared((run(None),)))) == ""
    table = sweep_table(sweep)
    assert [row[table.columns.index("score")] for row in table.rows] == [0.9, None]
    assert "<td>64</td><td></td>" in figures.sweep_rows(sweep)


def test_names_stand_in_the_order_in_which_they_were_given() -> None:
    runs = tuple(run(0.8, targets=targets) for targets in (("value",), ("query", "value"), ("query",)))
    drawn = assert_draws(figures.sweep_figure(Sweep("matrices", Compared(runs))))
    assert list(drawn.layout.xaxis.categoryarray) == ["v", "q+v", "q"]
    methods = tuple(run(0.8, method=method) for method in ("full", "head"))
    drawn = assert_draws(figures.sweep_figure(Sweep("method", Compared(methods))))
    assert list(drawn.data[1].x) == ["full", "head"]


@each_row("text", HOSTILE)
def test_reasons_stay_text(text: str) -> None:
    sweep = Sweep("rank", Compared((run(0.9),), ((text, text),)))
    assert "<script" not in figures.sweep_rows(sweep)
    assert "<img" not in figures.sweep_rows(sweep)


def test_a_regression_is_told_in_its_metric() -> None:
    one = run(0.9, rank=8)
    scored = replace(
        one, metrics=("pearson",), outcome=Outcome({"validation": {"pearson": 0.5}}, {"validation": 10}), labels=()
    )
    assert "Pearson correlation 0.500" in figures.sweep_sentence(Sweep("rank", Compared((scored,)))).striptags()


def ranks(scores: dict[int, tuple[float, ...]]) -> Sweep:
    runs = [run(score, rank=rank, seed=seed) for rank, each in scores.items() for seed, score in enumerate(each)]
    return Sweep("rank", Compared(tuple(runs)))


HARDLY = "the rank hardly matters here, as in the paper"


@each_row(
    ("scores", "hardly"),
    [
        ({1: (0.95, 0.97, 0.96), 64: (0.97, 0.96, 0.96)}, True),
        ({1: (0.94, 0.94, 0.96), 64: (0.96, 0.98, 0.96)}, True),
        ({1: (0.93, 0.94, 0.96), 64: (0.97, 0.98, 0.96)}, False),
        ({1: (0.950, 0.960, 0.955), 64: (0.961, 0.970, 0.966)}, False),
    ],
    ids=["equal but for chance", "2 points apart", "more than 2 points apart", "told apart by each seed"],
)
def test_the_rank_hardly_matters_where_no_number_says_otherwise(
    scores: dict[int, tuple[float, ...]], hardly: bool
) -> None:
    said = figures.sweep_sentence(ranks(scores)).striptags()
    start = "From r = 1 to r = 64 the rank" if hardly else "From rank to rank the mean accuracy lies between"
    assert said.startswith(start)
    assert "From r = 1 to r = 64 the mean accuracy lies between" in figures.sweep_notes(ranks(scores))
    assert ("Table 6" in figures.sweep_notes(ranks(scores))) is hardly
    assert (HARDLY in said) is hardly


def test_one_seed_says_nothing_of_the_rank() -> None:
    assert "From r" not in figures.sweep_sentence(ranks({1: (0.9,), 64: (0.9,)})).striptags()


def test_table_6_stands_beside_the_ranks_alone() -> None:
    drawn = assert_draws(figures.sweep_figure(ranks({1: (0.95, 0.96), 64: (0.96, 0.97)})))
    paper = {trace.name: list(trace.y) for trace in drawn.data if trace.xaxis == "x2"}
    assert paper["GPT-3 on MultiNLI"] == pytest.approx([0.913, 0.914, 0.913, 0.916, 0.914])
    assert len(paper) == 2
    assert not [trace for trace in assert_draws(figures.sweep_figure(rates(BOTH))).data if trace.xaxis == "x2"]


def test_the_bundled_ranks_are_of_a_training_to_its_end_with_three_seeds() -> None:
    names = [of_rank(rank, seed) for seed in RANK_SEEDS for rank in RANKS]
    records = [RunRecord.from_json((BUNDLED_RUNS / name / "record.json").read_text(encoding="utf-8")) for name in names]
    assert {record.spec.epochs for record in records} == {RANK_EPOCHS}
    assert HARDLY in figures.sweep_sentence(Sweep("rank", Compared(tuple(records)))).striptags()


def test_both_panels_stretch_a_point_alike() -> None:
    drawn = assert_draws(figures.sweep_figure(ranks({1: (0.95, 0.96), 64: (0.96, 0.97)})))
    reach = [high - low for low, high in (drawn.layout.yaxis.range, drawn.layout.yaxis2.range)]
    assert reach[0] == pytest.approx(reach[1])
    wide = assert_draws(figures.sweep_figure(ranks({1: (0.50, 0.51), 64: (0.96, 0.97)})))
    assert wide.layout.yaxis.range[0] < 0.5
