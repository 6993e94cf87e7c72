"""Curves, status lines, tables and the comparison, from made-up records."""

from __future__ import annotations

from dataclasses import replace
from statistics import stdev

import pytest
from scipy.stats import ttest_1samp

from explorer.labs.finetune import compare_figures, figures, outcome_figures
from explorer.labs.finetune import latency as latency_figures
from explorer.labs.finetune import use_figures as try_figures
from explorer.labs.finetune.compare_said_figures import compared_notes, compared_sentence
from explorer.labs.finetune.latency import LatencyResult, Timed
from explorer.labs.finetune.schema import MergeForm, MergeResult, PlanResult, Prediction, PredictRunResult, SwapResult
from explorer.maths.intervals import Ratio, Spent
from explorer.runs import report as curves
from explorer.runs.comparing import Compared
from explorer.runs.record import Outcome, RunRecord, RunStatus
from explorer.runs.report import run_table
from explorer.tasks.baseline import Baseline
from explorer.tuning.methods import METHODS
from explorer.tuning.spec import RunSpec
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.labs.finetune.records import record, regression
from tests.rows import each_row


def test_smoothing_is_a_weighted_mean_and_leaves_a_constant_alone() -> None:
    assert curves.smoothed([(step, 0.7) for step in range(1, 30)]) == pytest.approx([0.7] * 29)
    values = curves.smoothed([(1, 1.0), (2, 0.0)])
    assert values[0] == 1.0
    assert values[1] == pytest.approx(curves.SMOOTHING * 0.15 / (1 - curves.SMOOTHING**2))


def test_the_curves_hold_every_loss_and_every_metric() -> None:
    drawn = assert_draws(curves.curves_figure([record()]))
    each, smooth, metric = drawn.data
    assert list(each.y) == [loss for _, loss in record().losses]
    assert len(smooth.y) == len(each.y)
    assert list(metric.x) == [0, 5, 10]
    assert list(metric.y) == [0.5, 0.7, 0.8]
    assert metric.yaxis == "y2"


def test_a_held_out_loss_is_dashed_and_the_axis_says_so() -> None:
    run = record()
    assert curves.curves_figure([run])["layout"]["yaxis"]["title"]["text"] == "training loss"
    points = tuple((step, {**values, "loss": 0.6 - step / 100}) for step, values in run.evaluations)
    drawn = assert_draws(curves.curves_figure([replace(run, evaluations=points, outcome=None)]))
    dashed = [trace for trace in drawn.data if trace.line.dash == "dash"]
    assert [list(trace.y) for trace in dashed] == [pytest.approx([0.6, 0.55, 0.5])]
    assert drawn.layout.yaxis.title.text == "loss, dashed: held out"


def test_the_losss_axis_may_be_logarithmic() -> None:
    assert curves.curves_figure([record()], scale="log")["layout"]["yaxis"]["type"] == "log"
    assert "type" not in curves.curves_figure([record()])["layout"]["yaxis"]


def test_a_kept_step_is_marked_and_told_and_its_score_stands_there() -> None:
    run = record()
    metrics = {"validation": {"accuracy": 0.7, "loss": 0.4}}
    kept = replace(run, kept=5, outcome=replace(run.outcome, metrics=metrics))  # type: ignore[type-var]
    assert [(point.step, point.value) for point in kept.measured("accuracy")] == [(0, 0.5), (5, 0.7), (10, 0.8)]
    assert kept.score == 0.7
    assert figures.run_sentence(kept).striptags().endswith(" reaches accuracy 70.0%; before training it had 50.0%.")
    said = figures.run_notes(kept).striptags()
    assert "reaches accuracy 70.0%, loss 0.400" in said
    assert "the numbers of step 5 of 10, the best" in said
    marks = curves.curves_figure([kept])["layout"]["shapes"]
    assert [mark["x0"] for mark in marks] == [5, 5]
    assert not curves.curves_figure([run])["layout"].get("shapes")


def test_several_runs_have_a_colour_and_a_name_each() -> None:
    runs = [record(run_id=f"r00000000{place}", name=f"run {place}") for place in range(9)]
    drawn = assert_draws(curves.curves_figure(runs))
    lines = [trace for trace in drawn.data if trace.showlegend is not False]
    assert [trace.name for trace in lines] == [run.name for run in runs]
    assert len({trace.line.color for trace in lines}) == 9


def test_the_legend_leaves_out_the_task_that_all_runs_share() -> None:
    runs = [
        record(name=f"{method} · a task", run_id=f"r00000000{place}") for place, method in enumerate(("LoRA", "IA³"))
    ]
    names = [trace["name"] for trace in curves.curves_figure(runs)["data"] if trace.get("showlegend") is not False]
    assert names == ["LoRA", "IA³"]
    runs[1] = replace(runs[1], task_title="another")
    names = [trace["name"] for trace in curves.curves_figure(runs)["data"] if trace.get("showlegend") is not False]
    assert names == ["LoRA · a task", "IA³ · a task"]


def test_several_runs_that_have_ended_above_one_half_are_drawn_from_there_on() -> None:
    runs = [record(), record(run_id="r000000001")]
    assert curves.curves_figure(runs)["layout"]["yaxis2"]["range"][0] == 0.5
    assert curves.curves_figure(runs[:1])["layout"]["yaxis2"]["range"][0] == 0
    training = replace(runs[1], status=RunStatus.RUNNING)
    assert curves.curves_figure([runs[0], training])["layout"]["yaxis2"]["range"][0] == 0, "its axis must not jump"


def test_a_correlation_below_zero_stays_in_view() -> None:
    drawn = assert_draws(curves.curves_figure([regression()]))
    assert drawn.layout.yaxis2.range[0] < -0.3


@each_row("name", HOSTILE)
def test_a_visitors_task_name_stays_text(name: str) -> None:
    run = record(name=name, task_title=name)
    assert_safe(figures.run_sentence(run), name)
    assert_safe(figures.run_notes(run), "", ("p",))
    assert_safe(figures.settings_line(run), name, ("p",))
    assert all("<" not in str(trace.name) for trace in assert_draws(curves.curves_figure([run, run])).data)
    listed = compare_figures.runs_list(Compared((run,)))
    assert "<script" not in listed
    assert "<img" not in listed


@each_row("text", HOSTILE)
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


@each_row(
    ("changes", "says"),
    [
        ({"status": RunStatus.QUEUED, "outcome": None, "place": 2}, "2 runs ahead of this one"),
        ({"status": RunStatus.QUEUED, "outcome": None, "place": 0}, "it is next"),
        (
            {"status": RunStatus.QUEUED, "outcome": None, "place": 1, "seconds_left": 95.0},
            "1 run ahead of this one, about 1.6 min until it begins",
        ),
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
        ({}, "reaches accuracy 80.0%; before training it had 50.0%."),
    ],
)
def test_the_sentence_says_how_a_run_stands(changes: dict[str, object], says: str) -> None:
    assert says in figures.run_sentence(record(**changes)).striptags()
    notes = figures.run_notes(record(**changes)).striptags()
    told = "accuracy 80.0% on 10 held-out examples (50.0% before training). It trained 147,456 of 66M parameters"
    assert (told in notes) is (not changes)
    assert bool(notes) is (not changes)


def test_an_undefined_metric_is_said_to_be_so() -> None:
    assert "Spearman correlation undefined" in figures.run_notes(regression()).striptags()


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
    said = compared_sentence(Compared((small, best))).striptags()
    assert "LoRA r=8 leads with accuracy 90.0%" in said
    assert said.endswith(", ahead of Head only by more than chance.")
    said = compared_notes(Compared((small, best))).striptags()
    assert "Head only trains least (1.54K) and reaches accuracy 80.0%" in said
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
    assert compared_sentence(Compared((near, best))).striptags().endswith("; its lead over BitFit could be chance.")
    two = compared_notes(Compared((near, best))).striptags()
    assert "McNemar's test on the same 100 examples does not tell the two apart (p = 0.5)" in two
    apart = Compared((far, best))
    assert "does not tell" not in compared_notes(apart)
    assert compared_sentence(apart).striptags().endswith(", ahead of Head only by more than chance.")
    three = Compared((near, best, far))
    assert compared_sentence(three).striptags().endswith("; its lead over BitFit could be chance.")
    assert "Beyond chance LoRA r=8 is better than 1 of the 2 others: Head only (" in compared_notes(three)
    assert "all 3 pairs together" in compared_notes(three)
    assert "p = " not in compared_sentence(three)


def counted(wrong: set[int]) -> Baseline:
    answers = tuple(0.0 if row in wrong else 1.0 for row in range(100))
    accuracy = {"accuracy": 1 - len(wrong) / 100}
    return Baseline("TF-IDF + logistic regression", accuracy, (1.0,) * 100, answers, 5908, 5909, 0.21)


def test_counting_words_stands_beside_the_runs_and_is_tested_on_the_same_rows() -> None:
    compared = Compared((rowwise({0, 1}),), baseline=counted(set(range(20, 40))))
    said = compared_sentence(compared).striptags()
    assert "Counting words alone reaches 80.0%: LoRA r=8 is above it by more than chance." in said
    notes = compared_notes(compared).striptags()
    assert (
        "TF-IDF + logistic regression took 0.2 s with 5,908 features; LoRA r=8 is 18.0 points above it (p = 0.0001"
        in notes
    )
    near = replace(compared, baseline=counted({3, 4, 5}))
    assert "reaches 97.0%: LoRA r=8 is above it, but that could be chance." in compared_sentence(near).striptags()
    assert "1.0 points above it (p = 1," in compared_notes(near)
    level = replace(compared, baseline=counted({3, 4}))
    assert compared_sentence(level).striptags().endswith("Counting words alone reaches 98.0%.")
    assert "LoRA r=8 is level with it" in compared_notes(level)
    other = replace(compared, baseline=replace(counted({3}), labels=(0.0,) * 100))
    assert "p =" not in compared_notes(other)
    assert "chance" not in compared_sentence(other)
    drawn = assert_draws(compare_figures.trade_figure(compared))
    assert [shape.y0 for shape in drawn.layout.shapes] == [0.8]
    assert drawn.layout.yaxis.range[0] < 0.8
    row = compare_figures.compared_table(compared).rows[-1]
    assert row[:2] == ("baseline", "TF-IDF + logistic regression")
    assert "5,908 features" in compare_figures.cost_table(compared)
    assert len(compare_figures.compared_table(Compared(compared.records)).rows) == 1


def test_nobody_leads_alone_where_two_are_level() -> None:
    level = rowwise({0, 1}), rowwise({2, 3}, run_id="r1")
    assert "and 1 more share the lead with accuracy 98.0%" in compared_sentence(Compared(level)).striptags()
    assert "leads with" in compared_sentence(Compared((level[0], rowwise({2, 3, 4}, run_id="r1"))))
    assert "chance" not in compared_sentence(Compared(level[:1]))


def seeded(method: str, scores: tuple[float | None, ...], trainable: int) -> list[RunRecord]:
    """A method with a seed each; without a score it still waits."""
    made = []
    for seed, score in enumerate(scores):
        outcome = None if score is None else Outcome({"validation": {"accuracy": score}}, {"validation": 100})
        status = RunStatus.QUEUED if score is None else RunStatus.DONE
        given = {"spec": RunSpec("bert-small", method=method, seed=seed), "name": f"{method} · SST-2"}
        given |= {"run_id": f"{method}{seed}", "trainable": trainable if score is not None else 0}
        made.append(record(status=status, outcome=outcome, evaluations=(), seconds=10.0 + seed, **given))
    return made


def test_several_seeds_are_one_point_a_method_with_its_spread() -> None:
    scores = {"lora": (0.92, 0.9, 0.91), "head": (0.8, 0.7, None)}
    methods = [seeded(name, each, 10 ** (3 + place)) for place, (name, each) in enumerate(scores.items())]
    compared = Compared(tuple(run for by_seed in zip(*methods, strict=True) for run in by_seed), baseline=counted({1}))
    drawn = assert_draws(compare_figures.trade_figure(compared))
    means, lora, head = drawn.data
    assert list(means.text) == ["lora", "head"]
    assert list(means.y) == pytest.approx([0.91, 0.75])
    assert list(means.error_y.array) == pytest.approx([stdev(scores["lora"]), stdev((0.8, 0.7))])
    assert (list(lora.x), list(lora.y), list(lora.customdata)) == ([1000] * 3, [0.92, 0.9, 0.91], [0, 1, 2])
    assert (list(head.y), head.marker.color) == ([0.8, 0.7], means.marker.color[1])
    assert drawn.layout.yaxis.range[0] < 0.7
    assert "mean ± s.d." in drawn.layout.yaxis.title.text
    said = compared_sentence(compared).striptags()
    assert said.startswith("5 of 6 runs have ended")
    assert "lora leads with accuracy 91.0%; its lead over head could be chance." in said
    assert "reaches 99.0%: lora is below it by more than chance." in said
    notes = compared_notes(compared).striptags()
    assert "lora: mean of 3 seeds, standard deviation 1.0 points; it trains 1K of" in notes
    assert "16.0 points ahead of head, which may be chance" in notes, "two seeds that they share"
    assert "lora is 8.0 points behind it, beyond chance" in notes
    costs = compare_figures.cost_table(compared)
    half = ttest_1samp(scores["lora"], 0).confidence_interval().high - 0.91
    assert f"<td>0.910 ± {half:.3f}</td>" in costs
    assert "<td>1 queued</td>" in costs
    assert "<td>11 s</td>" in costs
    rows = compare_figures.compared_table(compared)
    assert [row[rows.columns.index("seed")] for row in rows.rows] == [0, 0, 1, 1, 2, 2, None]


def test_one_seed_is_drawn_without_a_spread() -> None:
    drawn = assert_draws(
        compare_figures.trade_figure(Compared((*seeded("lora", (0.9,), 9), *seeded("head", (0.8,), 3))))
    )
    assert len(drawn.data) == 1
    assert drawn.data[0].error_y.array is None


def test_before_and_after_are_on_the_same_rows_or_say_which() -> None:
    large = Outcome({"validation": {"accuracy": 0.512}}, {"validation": 250})
    old = record(outcome=large, held_out=250)
    assert "(50.0% on the first 128 of them before training)" in figures.run_notes(old).striptags()
    assert "before training" not in figures.run_sentence(old), "of other rows"
    new = record(outcome=large, held_out=250, whole=(0, 10))
    assert "accuracy 51.2% on 250 held-out examples (50.0% before training)" in figures.run_notes(new).striptags()
    assert run_table(old).rows[-1] == (10, 0.1, 0.512), "as the list of runs has it"
    drawn = assert_draws(curves.curves_figure([new]))
    assert list(drawn.data[2].marker.symbol) == ["circle", "circle-open", "circle"]
    assert "128 held-out rows" in drawn.layout.xaxis.title.text
    assert "first" not in assert_draws(curves.curves_figure([record()])).layout.xaxis.title.text
    running = record(
        status=RunStatus.RUNNING, outcome=None, held_out=250, evaluations=((0, {"accuracy": 0.5}),), step=3
    )
    assert "accuracy 50.0% on the first 128 rows." in figures.run_sentence(running).striptags()
    assert "accuracy 50.0%." in figures.run_sentence(running.evolve(whole=(0,))).striptags()


def test_a_method_that_cannot_be_had_stands_in_the_table_with_its_reason() -> None:
    costs = compare_figures.cost_table(Compared((record(),), (("Prefix-layer", "its attention takes no <keys>"),)))
    assert "its attention takes no &lt;keys&gt;" in costs
    assert "590 KB" in costs
    assert "400 MB" in costs


@each_row("method", METHODS, ids=lambda method: method.slug)
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


ALIKE = Ratio(0.99, 0.97, 1.02)


def merge_result(over_attached: Ratio, over_base: Ratio = ALIKE) -> MergeResult:
    """What was measured of three forms; the merged form's time over each of the other two."""
    times = {"base": Spent(10.1, 9.6, 10.6), "attached": Spent(12.5, 12.0, 13.0), "merged": Spent(10.0, 9.5, 10.5)}
    gaps = {"base": 0.5, "attached": 0.0, "merged": 3e-6}
    ratios = {"base": over_base, "attached": over_attached, "merged": Ratio(1.0, 1.0, 1.0)}
    forms = tuple(MergeForm(name, gaps[name], times[name], 1, ratios[name]) for name in times)
    return MergeResult("r1", "LoRA", forms, 32, 600, 8)


def test_merging_says_the_difference_and_what_it_saves() -> None:
    result = merge_result(Ratio(0.8, 0.78, 0.83))
    said = try_figures.merge_sentence(result).striptags()
    assert "gives the same logits up to rounding" in said
    assert (
        "Beside the adapter attached, it is 20.0% quicker; beside the model before, no difference can be measured"
        in said
    )
    assert try_figures.merge_table(result).columns[:5] == ("form", "max_difference", "milliseconds", "low", "high")
    assert try_figures.merge_table(result).rows[1][5:] == (0.8, 0.78, 0.83)
    drawn = assert_draws(try_figures.merge_figure(result))
    assert [trace.x[0] for trace in drawn.data] == [0.8, 0.99]
    assert [trace.error_x.array[0] for trace in drawn.data] == pytest.approx([0.03, 0.03])
    low, high = drawn.layout.xaxis.range
    assert low < 0.78 < 1.02 < high


def test_other_logits_and_a_slower_merged_model_are_told_as_they_are() -> None:
    result = merge_result(Ratio(1.2, 1.1, 1.3))
    other = tuple(replace(form, max_difference=0.5) if form.form == "merged" else form for form in result.forms)
    said = try_figures.merge_sentence(replace(result, forms=other)).striptags()
    assert "does not give the same logits: they differ by up to 5.0e-01" in said
    assert "20.0% slower, which only noise can explain" in said


@pytest.mark.parametrize(("high", "busy"), [(10.5, False), (10.51, True)])
def test_on_a_busy_machine_nothing_is_compared(high: float, busy: bool) -> None:
    plain = Spent(10.0, 9.5, high)
    latency = latency_figures.latency_sentence(replace(latency_result(), plain=plain)).striptags()
    merging = merge_result(Ratio(0.8, 0.78, 0.83))
    forms = tuple(replace(form, spent=plain) if form.form == "base" else form for form in merging.forms)
    merged = try_figures.merge_sentence(replace(merging, forms=forms)).striptags()
    assert ("The machine is busy" in latency, "The machine is busy" in merged) == (busy, busy)
    assert ("Slower than" in latency, "quicker" in merged) == (not busy, not busy)


@pytest.mark.parametrize("over", [Ratio(1.2, 0.9, 1.4), Ratio(0.9, 0.7, 1.01), Ratio(1.05, 1.0, 1.1)])
def test_merging_claims_no_difference_where_the_rounds_cannot_tell(over: Ratio) -> None:
    said = try_figures.merge_sentence(merge_result(over, over)).striptags()
    assert said.count("no difference can be measured") == 2
    assert "quicker" not in said
    assert "slower" not in said


def latency_result() -> LatencyResult:
    timed = (
        Timed("full", "Full fine-tuning", "plain", 0, Spent(10.0, 9.0, 11.0), Ratio(1.01, 0.98, 1.03)),
        Timed("lora", "LoRA", "attached", 9000, Spent(12.0, 11.0, 13.0), Ratio(1.21, 1.15, 1.25)),
        Timed("lora", "LoRA", "merged", 0, Spent(10.1, 9.0, 11.0), Ratio(0.99, 0.96, 1.02)),
        Timed("houlsby", "Adapters (Houlsby)", "attached", 9000, Spent(14.0, 13.0, 15.0), Ratio(1.4, 1.3, 1.5)),
    )
    missing = (("Prefix-layer", "no keys and <values>"),)
    return LatencyResult("bert-mini", "cpu", 1, 128, 20, 20, Spent(10.0, 9.5, 10.5), timed, missing)


def test_the_time_of_a_batch_is_told_by_what_the_rounds_can_tell() -> None:
    result = latency_result()
    said = latency_figures.latency_sentence(result).striptags()
    assert "Slower than the plain model: Adapters (Houlsby) (+40.0%), LoRA." in said
    assert "No difference can be measured for merged LoRA." in said
    assert "noise" not in said
    noisy = replace(result, timed=(replace(result.timed[0], ratio=Ratio(1.1, 1.05, 1.2)), *result.timed[1:]))
    noise = "Full fine-tuning add nothing to the plain model: what is measured of them is noise."
    assert noise in latency_figures.latency_sentence(noisy).striptags()
    drawn = assert_draws(latency_figures.latency_figure(result))
    assert [trace.x[0] for trace in drawn.data] == [1.01, 1.21, 0.99, 1.4]
    assert [trace.error_x.arrayminus[0] for trace in drawn.data] == pytest.approx([0.03, 0.06, 0.03, 0.1])
    assert_safe(latency_figures.missing_list(result), "no keys and <values>", ("p",))
    table = latency_figures.latency_table(result)
    assert [row[:2] for row in table.rows[:3]] == [("", "plain"), ("full", "plain"), ("lora", "attached")]


def test_the_line_under_the_curves_says_whose_settings_it_lists() -> None:
    assert "Settings of this run: bert-small" in figures.settings_line(record())
