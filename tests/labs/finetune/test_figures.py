"""Curves, status lines, tables and the comparison, from made-up records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.labs.finetune import figures
from explorer.labs.finetune.compare import figures as compare_figures
from explorer.labs.finetune.outcome import figures as outcome_figures
from explorer.labs.finetune.schema import MergeForm, MergeResult, PlanResult, Prediction, PredictRunResult, SwapResult
from explorer.labs.finetune.uploads import not_glues
from explorer.labs.finetune.use import figures as try_figures
from explorer.runs.following import Compared
from explorer.runs.record import OnRealTask, Outcome, RunRecord, RunStatus
from explorer.runs.report import run_table
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import RunSpec
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.finetune.records import record, regression


def test_smoothing_is_a_weighted_mean_and_leaves_a_constant_alone() -> None:
    assert figures.smoothed([(step, 0.7) for step in range(1, 30)]) == pytest.approx([0.7] * 29)
    values = figures.smoothed([(1, 1.0), (2, 0.0)])
    assert values[0] == 1.0
    assert values[1] == pytest.approx(figures.SMOOTHING * 0.15 / (1 - figures.SMOOTHING**2))


def test_the_curves_hold_every_loss_and_every_metric() -> None:
    drawn = assert_draws(figures.curves_figure([record()]))
    each, smooth, metric = drawn.data
    assert list(each.y) == [loss for _, loss in record().losses]
    assert len(smooth.y) == len(each.y)
    assert list(metric.x) == [0, 5, 10]
    assert list(metric.y) == [0.5, 0.7, 0.8]
    assert metric.yaxis == "y2"


def test_several_runs_have_a_colour_and_a_name_each() -> None:
    runs = [record(run_id=f"r00000000{place}", name=f"run {place}") for place in range(9)]
    drawn = assert_draws(figures.curves_figure(runs))
    lines = [trace for trace in drawn.data if trace.showlegend is not False]
    assert [trace.name for trace in lines] == [run.name for run in runs]
    assert len({trace.line.color for trace in lines}) == 9


def test_the_legend_leaves_out_the_task_that_all_runs_share() -> None:
    runs = [
        record(name=f"{method} · a task", run_id=f"r00000000{place}") for place, method in enumerate(("LoRA", "IA³"))
    ]
    names = [trace["name"] for trace in figures.curves_figure(runs)["data"] if trace.get("showlegend") is not False]
    assert names == ["LoRA", "IA³"]
    runs[1] = replace(runs[1], task_title="another")
    names = [trace["name"] for trace in figures.curves_figure(runs)["data"] if trace.get("showlegend") is not False]
    assert names == ["LoRA · a task", "IA³ · a task"]


def test_several_runs_that_have_ended_above_one_half_are_drawn_from_there_on() -> None:
    runs = [record(), record(run_id="r000000001")]
    assert figures.curves_figure(runs)["layout"]["yaxis2"]["range"][0] == 0.5
    assert figures.curves_figure(runs[:1])["layout"]["yaxis2"]["range"][0] == 0
    training = replace(runs[1], status=RunStatus.RUNNING)
    assert figures.curves_figure([runs[0], training])["layout"]["yaxis2"]["range"][0] == 0, "its axis must not jump"


def test_a_correlation_below_zero_stays_in_view() -> None:
    drawn = assert_draws(figures.curves_figure([regression()]))
    assert drawn.layout.yaxis2.range[0] < -0.3


@pytest.mark.parametrize("name", HOSTILE)
def test_a_visitors_task_name_stays_text(name: str) -> None:
    run = record(name=name, task_title=name)
    assert_safe(figures.run_sentence(run), name)
    assert_safe(figures.settings_line(run), name, ("p",))
    assert all("<" not in str(trace.name) for trace in assert_draws(figures.curves_figure([run, run])).data)
    listed = compare_figures.runs_list(Compared((run,)))
    assert "<script" not in listed
    assert "<img" not in listed


@pytest.mark.parametrize("text", HOSTILE)
def test_a_visitors_examples_stay_text_among_the_mistakes(text: str) -> None:
    base = record()
    assert base.outcome is not None
    outcome = base.outcome.__class__(
        base.outcome.metrics,
        base.outcome.rows,
        base.outcome.confusion,
        wrong=(base.outcome.wrong[0].__class__(text, text, 0, 1, 0.9),),
    )
    tags = ("table", "caption", "thead", "tbody", "tr", "th", "td")
    assert_safe(outcome_figures.mistakes(record(outcome=outcome)), text, tags)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"status": RunStatus.QUEUED, "outcome": None, "place": 2}, "2 runs ahead of this one"),
        ({"status": RunStatus.QUEUED, "outcome": None, "place": 0}, "it is next"),
        (
            {"status": RunStatus.RUNNING, "outcome": None, "step": 4, "rate": 51.0, "seconds_left": 7.0},
            "step 4 of 10, 51 examples/s, about 7.0 s left",
        ),
        (
            {"status": RunStatus.RUNNING, "outcome": None, "step": 0, "message": "Loading the model"},
            "Loading the model",
        ),
        ({"status": RunStatus.INTERRUPTED, "outcome": None, "message": "press Resume"}, "interrupted. press Resume"),
        ({"status": RunStatus.FAILED, "outcome": None, "message": "it diverged"}, "failed. it diverged"),
        ({}, "accuracy 80.0% on 10 held-out examples (50.0% before training). It trained 147,456 of 66M parameters"),
    ],
)
def test_the_sentence_says_how_a_run_stands(changes: dict[str, object], says: str) -> None:
    assert says in figures.run_sentence(record(**changes)).striptags()


def test_an_undefined_metric_is_said_to_be_so() -> None:
    assert "Spearman correlation undefined" in figures.run_sentence(regression()).striptags()


def test_the_table_has_the_loss_of_every_step_and_the_metric_where_it_was_measured() -> None:
    table = run_table(record())
    assert table.columns == ("step", "loss", "metric")
    assert [row[0] for row in table.rows] == list(range(11))
    assert table.rows[0] == (0, None, 0.5)
    assert table.rows[5] == (5, 0.2, 0.7)


def test_the_confusion_matrix_has_true_classes_down_and_predicted_ones_across() -> None:
    base = record().outcome
    assert base is not None
    lopsided = base.__class__(base.metrics, base.rows, ((5, 0), (3, 2)))
    picture = outcome_figures.outcome_figure(record(outcome=lopsided))
    assert isinstance(picture, dict)
    drawn = assert_draws(picture)
    assert [list(row) for row in drawn.data[0].text] == [["5", "0"], ["3", "2"]]
    assert list(drawn.data[0].y) == ["negative", "positive"]
    assert list(drawn.data[0].z[1]) == [0.6, 0.4]
    assert "7 of 10 right" in picture["described"]


def test_a_regression_is_drawn_as_points() -> None:
    picture = outcome_figures.outcome_figure(regression())
    assert isinstance(picture, dict)
    drawn = assert_draws(picture)
    assert list(drawn.data[1].x) == [0.0, 2.5, 5.0]
    assert list(drawn.data[1].y) == [0.5, 2.0, 4.0]
    assert "Farthest" in outcome_figures.mistakes(regression())


def test_the_comparison_names_the_best_and_the_smallest_and_what_is_chance() -> None:
    small = record(
        run_id="r1111111111", name="Head only · SST-2", trainable=1538, evaluations=(), outcome=record().outcome
    )
    best = record(outcome=record().outcome.__class__({"validation": {"accuracy": 0.9}}, {"validation": 100}))
    said = compare_figures.compared_sentence(Compared((small, best))).striptags()
    assert "LoRA r=8 · SST-2 leads with accuracy 90.0%" in said
    assert "Head only · SST-2 trains least (1.54K) and reaches accuracy 80.0%" in said
    assert "differences below 8.3 percentage points are within chance" in said, (
        "1.96 errors of a difference, not two of one accuracy"
    )
    drawn = assert_draws(compare_figures.trade_figure(Compared((small, best))))
    assert list(drawn.data[0].x) == [1538, 147_456]
    assert list(drawn.data[0].y) == [0.8, 0.9]


def rowwise(wrong: set[int], **changes: object) -> RunRecord:
    """A run with its answer to each of 100 rows."""
    answers = ["0" if row in wrong else "1" for row in range(100)]
    score = {"accuracy": 1 - len(wrong) / 100}
    outcome = Outcome({"validation": score}, {"validation": 100}, truths=" ".join("1" * 100), answers=" ".join(answers))
    return record(outcome=outcome, **changes)


def test_runs_with_answers_are_compared_on_the_same_rows() -> None:
    best, near = rowwise({0, 1}), rowwise({0, 1, 2, 3}, run_id="r1", name="BitFit · SST-2", trainable=9)
    far = rowwise(set(range(2, 22)), run_id="r2", name="Head only · SST-2", trainable=3)
    two = compare_figures.compared_sentence(Compared((near, best))).striptags()
    assert "McNemar's test on the same 100 examples does not tell the two apart (p = 0.5)" in two
    assert "does not tell" not in compare_figures.compared_sentence(Compared((far, best))).striptags()
    three = compare_figures.compared_sentence(Compared((near, best, far))).striptags()
    assert "Beyond chance it is better than 1 of the 2 others: Head only (" in three
    assert "all 3 pairs together" in three


def test_nobody_leads_alone_where_two_are_level() -> None:
    level = rowwise({0, 1}), rowwise({2, 3}, run_id="r1")
    assert "and 1 more share the lead with accuracy 98.0%" in compare_figures.compared_sentence(Compared(level))
    assert "leads with" in compare_figures.compared_sentence(Compared((level[0], rowwise({2, 3, 4}, run_id="r1"))))
    assert "chance" not in compare_figures.compared_sentence(Compared(level[:1]))


def test_before_and_after_are_on_the_same_rows_or_say_which() -> None:
    large = Outcome({"validation": {"accuracy": 0.512}}, {"validation": 250})
    old = record(outcome=large, held_out=250)
    assert "(50.0% on the first 128 of them before training)" in figures.run_sentence(old).striptags()
    new = record(outcome=large, held_out=250, whole=(0, 10))
    assert "accuracy 51.2% on 250 held-out examples (50.0% before training)" in figures.run_sentence(new).striptags()
    assert run_table(old).rows[-1] == (10, 0.1, 0.512), "as the list of runs has it"
    drawn = assert_draws(figures.curves_figure([new]))
    assert list(drawn.data[2].marker.symbol) == ["circle", "circle-open", "circle"]
    assert "first 128 held-out rows" in drawn.layout.xaxis.title.text
    assert "first" not in assert_draws(figures.curves_figure([record()])).layout.xaxis.title.text
    running = record(
        status=RunStatus.RUNNING, outcome=None, held_out=250, evaluations=((0, {"accuracy": 0.5}),), step=3
    )
    assert "accuracy 50.0% on the first 128 rows." in figures.run_sentence(running).striptags()
    assert "accuracy 50.0%." in figures.run_sentence(running.but(whole=(0,))).striptags()


def test_a_method_that_cannot_be_had_stands_in_the_table_with_its_reason() -> None:
    costs = compare_figures.cost_table(Compared((record(),), (("Prefix-layer", "its attention takes no <keys>"),)))
    assert "its attention takes no &lt;keys&gt;" in costs
    assert "590 KB" in costs
    assert "400 MB" in costs


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.slug)
def test_the_settings_name_the_rate_that_was_used(method: object) -> None:
    run = record(spec=RunSpec("bert-small", method=method.slug))  # type: ignore[attr-defined]
    assert f"learning rate {method.learning_rate:g}" in figures.settings_line(run)  # type: ignore[attr-defined]


def test_the_plan_says_what_is_trained_and_why_something_cannot_be() -> None:
    plan = PlanResult(
        "bert-small", "LoRA", (("LoRA query", 90), ("head", 10)), 100, 1000, 400, 5_000_000, 12.0, 480, 90
    )
    said = figures.plan_sentence(plan).striptags()
    assert "100 of 1e+03 parameters" in said or "100 of 1K parameters" in said
    assert "90 steps on 480 examples" in said
    assert figures.plan_table(plan).rows[0] == ("LoRA query", 90, 0.09)
    missing = PlanResult("tiny", "Prefix-layer", unavailable="no keys and values <here>")
    assert_safe(figures.plan_sentence(missing), "no keys and values <here>")


def _prediction(name: str, probabilities: tuple[float, ...], score: float | None = None) -> Prediction:
    return Prediction(name, f"id-{name}", (0.1, 0.2)[: max(1, len(probabilities))], probabilities, score)


def test_a_prediction_stands_beside_the_one_before_training() -> None:
    result = PredictRunResult(
        ("negative", "positive"), "SST-2", _prediction("before", (0.6, 0.4)), _prediction("after", (0.1, 0.9))
    )
    said = try_figures.prediction_sentence(result).striptags()
    assert "after says positive (90.0%)" in said
    assert "negative (60.0%)" in said
    drawn = assert_draws(try_figures.prediction_figure(result))
    assert [list(trace.x) for trace in drawn.data] == [[0.6, 0.4], [0.1, 0.9]]
    scores = PredictRunResult((), "STS-B", _prediction("before", (), 2.5), _prediction("after", (), 4.0))
    assert "after says 4.00" in try_figures.prediction_sentence(scores).striptags()
    assert_draws(try_figures.prediction_figure(scores))


def test_the_mixed_batch_stands_beside_each_run_by_itself() -> None:
    rows = (_prediction("one", (0.2, 0.8)), _prediction("two", (0.7, 0.3)))
    labels = {row.run_id: ("no", "yes") for row in rows}
    result = SwapResult(labels, rows, rows, 2e-7, (12.0, 20.0))
    assert [row[1:5] for row in try_figures.swap_table(result).rows] == [
        ("one", "yes (80.0%)", "yes (80.0%)", 0.0),
        ("two", "no (70.0%)", "no (70.0%)", 0.0),
    ]
    assert "12.0 ms together, 20.0 ms one after the other" in try_figures.swap_sentence(result).striptags()


def merge_result(merged: tuple[float, float, float] = (10.0, 9.5, 10.5)) -> MergeResult:
    """What was measured of three forms; merged: its median and quartiles."""
    times = {"base": (10.1, 9.6, 10.6), "attached": (12.5, 12.0, 13.0), "merged": merged}
    gaps = {"base": 0.5, "attached": 0.0, "merged": 3e-6}
    forms = tuple(MergeForm(name, gaps[name], middle, 1, low, high) for name, (middle, low, high) in times.items())
    return MergeResult("r1", "LoRA", forms, 32, 600, 8)


def test_merging_says_the_difference_and_what_it_saves() -> None:
    result = merge_result()
    said = try_figures.merge_sentence(result).striptags()
    assert "at most 3.0e-06 on 32 texts" in said
    assert "A batch of 8 takes 10 ms (9.5 to 10.5), and 12.5 ms (12 to 13) with the adapter attached" in said
    assert "attached: merged it is 20.0% quicker" in said
    assert "Beside the model before (10.1 ms (9.6 to 10.6)), no difference can be measured" in said
    assert try_figures.merge_table(result).columns == ("form", "max_difference", "milliseconds", "low", "high")
    drawn = assert_draws(try_figures.merge_figure(result))
    assert list(drawn.data[0].y) == [10.1, 12.5, 10.0]
    assert list(drawn.data[0].error_y.array) == pytest.approx([0.5, 0.5, 0.5])


@pytest.mark.parametrize("merged", [(13.0, 11.0, 20.0), (12.0, 9.0, 30.0)])
def test_merging_claims_no_difference_where_the_times_overlap(merged: tuple[float, float, float]) -> None:
    said = try_figures.merge_sentence(merge_result(merged)).striptags()
    assert "attached: no difference can be measured" in said
    assert "quicker" not in said


def test_a_merged_model_that_is_slower_is_put_down_to_the_machine() -> None:
    said = try_figures.merge_sentence(merge_result((20.0, 19.0, 21.0))).striptags()
    assert "slower, and only what else this machine is doing can explain that" in said


def test_whose_a_run_is_is_said_where_there_are_several_and_gives_no_secret_away() -> None:
    mine, other = record(owner="secret-one"), record(run_id="r2222222222", owner="secret-two")
    alone, both = compare_figures.runs_list(Compared((mine,))), compare_figures.runs_list(Compared((mine, other)))
    assert "visitor" not in alone
    assert mine.whose in both
    assert other.whose in both
    assert mine.whose != other.whose
    assert "secret" not in both


def test_labels_of_neighbouring_points_do_not_cover_each_other() -> None:
    apart = compare_figures._label_places([(1_000, 0.8), (1_000_000, 0.9)])
    assert apart == ["top center", "top center"]
    close = compare_figures._label_places([(150_000, 0.95), (150_000, 0.95), (160_000, 0.951)])
    assert len(set(close)) == 3


def test_below_a_bundled_task_stands_that_it_is_not_glues() -> None:
    assert "They are not SST-2's" in not_glues("sst2")
    assert not_glues("sst2@hub") == not_glues("file-0123456789ab") == not_glues(None) == ""


def test_the_merged_model_is_only_called_the_same_where_it_is() -> None:
    def said(difference: float) -> str:
        gaps = {"base": 0.5, "attached": 0.0, "merged": difference}
        forms = tuple(MergeForm(name, gap, 10.0, 1, 9.0, 11.0) for name, gap in gaps.items())
        return try_figures.merge_sentence(MergeResult("r1", "LoRA", forms, 32, 16, 600)).striptags()

    assert "gives the same logits up to rounding" in said(6e-6)
    assert "does not give the same logits" in said(2e-4)


def test_what_a_run_scores_on_the_real_task_stands_beside_the_bundled_figure() -> None:
    real = OnRealTask("SST-2", "dev.tsv", "abc", 872, {"accuracy": 0.776}, "2026-01-01", "a command")
    said = figures.run_sentence(record(real=(real,))).striptags()
    assert "On GLUE's own SST-2 (872 examples of dev.tsv): accuracy 77.6%." in said
    assert "GLUE" not in figures.run_sentence(record()).striptags()
