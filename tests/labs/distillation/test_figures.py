"""What the page shows of results that are made up: pictures, sentences, tables, and nothing of a visitor's as markup."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from statistics import stdev
from typing import Any

import pytest
from scipy.stats import ttest_1samp

from explorer.charts import KEPT
from explorer.labs.distillation import ablation_figures
from explorer.labs.distillation import losses_figures as loss_figures
from explorer.labs.distillation import soft_figures as figures
from explorer.labs.distillation import train_figures as train_figures
from explorer.labs.distillation.schema import REST, Loss, Target
from explorer.runs.record import RunStatus
from explorer.runs.report import progress
from explorer.tuning.students import ablated
from tests.labs.distillation.samples import THREE, ablation, alone, distilled, losses, on_text, soft, student, teacher
from tests.rows import each_row

HOSTILE = "</script><img onerror=x> `$x$` %{y} \u2028 <b>"


class TestSoftTargets:
    def test_the_table_is_the_targets(self) -> None:
        table = figures.soft_targets_table(soft())
        assert table.columns == ("target", "logit", "hard", "soft")
        assert table.rows[0] == ("Paris", 9.0, 1.0, 0.5)
        assert table.rows[2] == (REST, None, 0.0, 0.25)

    def test_the_sentence_says_what_the_label_does_not(self) -> None:
        said = figures.soft_targets_sentence(soft()).striptags()
        assert said == "At T = 2 bert-small gives “Paris” 50.0%; a hard target would give everything to it."
        notes = figures.soft_targets_notes(soft()).striptags()
        assert "50.0% goes to the 999 other classes" in notes
        assert "“Rome” (25.0%)" in notes
        assert "Entropy: 1.5 nats of at most 6.91" in notes
        assert "first of 3 masks" in figures.soft_targets_notes(soft(places=3)).striptags()

    @pytest.mark.parametrize(("share", "how"), [(0.25, "led by"), (0.251, "most of it on")])
    def test_most_is_more_than_half(self, share: float, how: str) -> None:
        three = soft(
            classes=3, targets=(Target("a", 1.0, 1.0, 0.5), Target(" b", 0.5, 0.0, share), Target("c", 0.0, 0.0, 0.2))
        )
        assert f", {how} “b” (" in figures.soft_targets_notes(three).striptags()

    def test_two_classes_are_spoken_of_as_two(self) -> None:
        two = soft(classes=2, targets=(Target("yes", 1.0, 1.0, 0.75), Target("no", 0.0, 0.0, 0.25)), dark=0.25)
        assert "25.0% goes to the other class, “no”." in figures.soft_targets_notes(two).striptags()

    def test_the_picture_has_what_the_page_computes_again(self) -> None:
        drawn = figures.soft_targets_figure(soft())
        assert drawn["named"] == 2
        assert drawn["temperature"] == 2.0
        hard, now, _, entropy, _, dark = drawn["data"]
        assert hard["x"] == [1.0, 0.0, 0.0]
        assert now["x"] == [0.5, 0.25, 0.25]
        assert now["text"] == ["50.0%", "25.0%", "25.0%"]
        assert (entropy["x"], entropy["y"]) == ([2.0, 2.0], [0, 1.5])
        assert dark["y"] == [0, 0.5]
        assert drawn["layout"]["yaxis"]["ticktext"] == ["Paris", "Rome", "998 others"]
        assert json.dumps(drawn)

    def test_only_a_visitor_knows_what_the_label_says(self) -> None:
        assert "label" not in figures.soft_targets_notes(soft()).striptags()
        right = soft(truth="Paris", truth_soft=0.5)
        assert figures.soft_targets_sentence(right).striptags().endswith("everything to it.")
        assert "The label puts 100% on the same answer." in figures.soft_targets_notes(right)
        wrong = soft(truth="Rome", truth_soft=0.25)
        assert figures.soft_targets_sentence(wrong).striptags().endswith("everything to “Rome”.")
        told = "The label puts 100% on “Rome”, to which the teacher gives 25.0%."
        assert told in figures.soft_targets_notes(wrong).striptags()

    def test_a_word_named_like_the_rest_is_a_word(self) -> None:
        same = soft(targets=(Target(REST, 2.0, 1.0, 0.5), Target(REST, None, 0.0, 0.5)))
        assert figures.soft_targets_figure(same)["named"] == 1

    def test_names_stay_text(self) -> None:
        hostile = soft(teacher=HOSTILE, targets=(Target(HOSTILE, 1.0, 1.0, 0.6), Target("b", 0.0, 0.0, 0.4)))
        assert "<img" not in str(figures.soft_targets_sentence(hostile))
        drawn = figures.soft_targets_figure(hostile)
        assert not any("<" in name for name in drawn["layout"]["yaxis"]["ticktext"])
        assert not any("script" in trace.get("hovertemplate", "") for trace in drawn["data"])


class TestLosses:
    def test_tables(self) -> None:
        assert loss_figures.losses_table(losses()).columns == ("loss", "value", "note")
        gradients = loss_figures.gradients_table(losses())
        assert gradients.columns == ("temperature", "without_factor", "with_factor")
        assert gradients.rows[1] == (10.0, 0.002, 0.2)

    def test_what_cannot_be_had_says_why(self) -> None:
        cannot = losses(losses=(Loss("cosine", "Cosine", "c", None, "states of 32 and of 64 numbers have no cosine"),))
        assert "not here: states of 32" in loss_figures.losses_list(cannot)

    def test_the_list_of_losses_holds_nothing_of_a_visitors(self) -> None:
        assert HOSTILE not in loss_figures.losses_list(losses(teacher=HOSTILE, student=HOSTILE, answer=HOSTILE))

    def test_the_sentence(self) -> None:
        said = loss_figures.losses_sentence(losses()).striptags()
        assert "answers “yes”, a student answers the same: the soft loss is 0.4." in said
        notes = loss_figures.losses_notes(losses()).striptags()
        assert "gives “yes” 60.0% at T = 2" in notes
        assert "The hard loss (against the teacher's own “yes”) is 0.8" in notes
        assert "with α = 0.5 the average of both losses is 0.6" in notes
        known = loss_figures.losses_notes(losses(truth="no")).striptags()
        assert "(against the true answer “no”) is 0.8" in known
        zero = losses(losses=tuple(Loss(loss.slug, loss.title, "x", 0.0) for loss in losses().losses))
        assert "every soft loss is 0" in loss_figures.losses_sentence(zero)
        assert "it still pays 0, as the teacher would" in loss_figures.losses_notes(zero)
        assert "<img" not in str(loss_figures.losses_sentence(losses(teacher=HOSTILE, student=HOSTILE, answer="yes")))

    def test_the_gradients_fall_and_settle(self) -> None:
        said = loss_figures.gradients_sentence(losses()).striptags()
        assert said.endswith("goes to zero; times T² it tends to 0.2.")
        said = loss_figures.gradients_notes(losses()).striptags()
        assert "From T = 10 to 100 the gradient of the plain KL falls to 1/100 (1/T² alone would be 1/100)" in said
        assert "for large T the soft and the hard loss keep their proportion" in said
        assert "at T = 1 it is 0.1" in said
        late = losses(gradients=((1.0, 0.1, 0.1), (10.0, 0.1, 10.0), (100.0, 0.2, 2000.0)))
        assert "rises to 2 times as much" in loss_figures.gradients_notes(late).striptags()
        none = losses(gradients=((1.0, 1e-17, 1e-17), (100.0, 1e-20, 1e-17)), limit=0.0)
        assert "no gradient at any T" in loss_figures.gradients_sentence(none)
        assert loss_figures.gradients_notes(none) == ""
        assert all(trace["x"] == [] for trace in loss_figures.gradients_figure(none)["data"])

    def test_the_bars_are_both_distributions(self) -> None:
        one, other = loss_figures.losses_figure(losses())["data"]
        assert (one["x"], other["x"]) == ([0.75, 0.25], [0.6, 0.4])


class TestStudents:
    def test_the_table_is_the_students_curve(self) -> None:
        table = train_figures.distill_table(distilled())
        assert table.columns == ("step", "loss", "metric")
        assert table.rows[0] == (0, None, 0.5)
        assert table.rows[-1] == (20, 0.05, 0.9)
        assert len(table.rows) == 21

    def test_the_sentence_when_all_is_done(self) -> None:
        said = train_figures.distill_sentence(distilled()).striptags()
        assert said.startswith(
            "The student reaches accuracy 90.0%, on the labels alone 88.0%: a difference that could be"
        )
        said = train_figures.sizes_list(distilled()).striptags()
        assert "Its teacher reaches accuracy 95.0%: the student keeps 94.7%" in said
        assert "in 92.0% of the held-out examples, the other in 90.0%" in said
        assert "differences below 6.6 percentage points are within chance" in said

    def test_two_students_are_compared_on_the_same_rows(self) -> None:
        rows = " ".join("1" * 160)
        one, other = (
            record.evolve(outcome=replace(record.outcome, truths=rows, answers=" ".join(said)))
            for record, said in ((student(), "0" * 9 + "1" * 151), (alone(), "0" * 2 + "1" * 158))
        )
        two = distilled(students=(one, other))
        assert "a difference of more than chance" in train_figures.distill_sentence(two)
        listed = train_figures.sizes_list(two).striptags()
        assert "The two students: p = 0.016, McNemar's test on the same 160 examples" in listed
        same = distilled(students=(one, one))
        assert "chance" not in train_figures.distill_sentence(same), "level is no difference"
        assert "p = 1," in train_figures.sizes_list(same)
        assert "chance" not in train_figures.distill_sentence(distilled(students=(one,), sizes=())).striptags()

    @each_row(
        ("changes", "expected"),
        [
            ({"status": RunStatus.QUEUED, "step": 0, "place": 2, "outcome": None}, "turn: 2 runs ahead of this one"),
            ({"status": RunStatus.QUEUED, "step": 0, "place": 0, "outcome": None}, "it is next"),
            ({"status": RunStatus.RUNNING, "step": 0, "message": "Asking the teacher", "outcome": None}, "Asking the teacher."),
            ({"status": RunStatus.RUNNING, "step": 7, "outcome": None}, "step 7 of 20"),
            ({"status": RunStatus.FAILED, "message": "It diverged.", "outcome": None}, "is failed. It diverged."),
        ],
    )  # fmt: skip
    def test_the_sentence_before_that(self, changes: dict[str, Any], expected: str) -> None:
        result = distilled(students=(student(**changes), alone()), sizes=())
        assert expected in train_figures.distill_sentence(result).striptags()

    def test_a_companion_that_was_stopped_while_it_waited(self) -> None:
        cancelled = alone(status=RunStatus.CANCELLED, outcome=None, evaluations=(), step=0, steps=0)
        result = distilled(students=(student(), cancelled))
        said = train_figures.distill_sentence(result).striptags()
        assert said.endswith("; on the labels alone the same student is cancelled.")
        assert "It answers as its teacher does in 92.0%" in train_figures.sizes_list(result).striptags()
        assert "44M" in train_figures.sizes_list(result)
        failed = distilled(students=(student(status=RunStatus.FAILED, outcome=None),), sizes=())
        assert "Not weighed" in train_figures.sizes_list(failed)

    def test_a_bar_goes_on_until_all_have_ended(self) -> None:
        running = student(status=RunStatus.RUNNING, step=10, outcome=None)
        assert 'value="0.7500"' in progress((running, alone()))
        assert progress((student(), alone())) == ""

    def test_the_figure_has_both_students_and_the_teachers_line(self) -> None:
        drawn = train_figures.distill_figure(distilled())
        names = [trace["name"] for trace in drawn["data"]]
        assert names[0] == "teacher: LoRA r=8"
        assert drawn["data"][0]["y"] == [0.95, 0.95]
        assert {"3-layer student, soft targets", "3-layer student, labels"} <= set(names)
        assert [trace["yaxis"] for trace in drawn["data"][1:]] == ["y", "y", "y2", "y2"]

    def test_points_on_some_of_the_rows_are_hollow_and_say_so(self) -> None:
        part = student(
            evaluations=((0, {"accuracy": 0.5}), (10, {"accuracy": 0.7}), (20, {"accuracy": 0.9})), whole=(0,)
        )
        line = train_figures.distill_figure(distilled(students=(part,), sizes=()))["data"][1]
        assert line["marker"]["symbol"] == ["circle", "circle-open", "circle"]
        assert line["customdata"][1] == "the first 128 held-out rows"

    def test_a_regression_has_no_agreement(self) -> None:
        plain = student(0.8, None, metrics=("pearson",), evaluations=((0, {"pearson": -0.3}), (20, {"pearson": 0.8})))
        drawn = train_figures.distill_figure(distilled(students=(plain,), sizes=()))
        assert "yaxis2" not in drawn["layout"]
        assert drawn["layout"]["yaxis"]["range"][0] < -0.3
        assert "agrees" in train_figures.sizes_list(distilled(students=(plain,), sizes=()))

    def test_sizes_stand_side_by_side_with_distilberts(self) -> None:
        text = train_figures.sizes_list(distilled()).striptags()
        assert "66M 264 MB 20 ms 200 ms 95.0%" in re.sub(
            r"\s+", " ", train_figures.sizes_list(distilled()).replace("</td>", " ").striptags()
        )
        for said in ("44M (33.3% fewer)", "10 ms (2×)", "100 ms (2×)", "125 ms (1.6×)", "92.0%"):
            assert said in text
        own = " ".join(train_figures.distilbert().striptags().split())
        assert own.startswith("DistilBERT: 66M parameters, 60% faster, 97% of BERT.")
        for quoted in (
            "66M of BERT-base's 110M (40% fewer)",
            "410 s",
            "668 s",
            "77.0 of its 79.5",
            "97%",
        ):
            assert quoted in own

    def test_names_stay_text(self) -> None:
        hostile = distilled(teacher=teacher(name=HOSTILE), students=(student(name=HOSTILE), alone()))
        assert "<img" not in train_figures.sizes_list(hostile)
        assert "<img" not in train_figures.distill_sentence(hostile)
        assert not any("<" in trace["name"] for trace in train_figures.distill_figure(hostile)["data"])


class TestOnText:
    def test_the_sentence_speaks_of_hidden_words(self) -> None:
        said = train_figures.distill_sentence(on_text()).striptags()
        assert "reaches accuracy 25.0%, on the hidden words alone 20.0%: a difference of more than chance." in said
        said = train_figures.sizes_list(on_text()).striptags()
        assert "Its teacher reaches accuracy 50.0%: the student keeps 50.0%" in said
        assert "for 35.0% of the hidden words" in said
        assert "differences below 3.8 percentage points are within chance" in said

    def test_three_plots_each_with_its_own_range_and_the_teachers_line_where_it_has_one(self) -> None:
        drawn = train_figures.distill_figure(on_text())
        axes = {axis: [t["name"] for t in drawn["data"] if t["yaxis"] == axis] for axis in ("y", "y2", "y3")}
        assert [len(names) for names in axes.values()] == [3, 3, 2]
        assert axes["y"][0] == axes["y2"][0] == "teacher: all of bert-small"
        tops = [drawn["layout"][axis]["domain"] for axis in ("yaxis", "yaxis2", "yaxis3")]
        assert tops == sorted(tops, reverse=True)
        assert drawn["layout"]["yaxis"]["range"][1] == pytest.approx(0.6)
        assert drawn["layout"]["yaxis2"]["range"][0] < 0.1
        assert sum(trace.get("showlegend", True) for trace in drawn["data"]) == 3
        assert json.dumps(drawn)

    def test_the_table_has_the_loss_too(self) -> None:
        text = re.sub(r"\s+", " ", train_figures.sizes_list(on_text()).replace("</td>", " ").striptags())
        assert "teacher: all of bert-small 66M 264 MB 20 ms 200 ms 50.0% 4.00" in text
        assert "25.0% 5.25 35.0%" in text

    def test_before_the_teacher_has_been_asked(self) -> None:
        waiting = [
            one.evolve(status=RunStatus.QUEUED, step=0, outcome=None, evaluations=(), reference={})
            for one in on_text().students
        ]
        result = on_text(students=tuple(waiting), sizes=())
        assert json.dumps(train_figures.distill_figure(result))
        assert "Weighed and timed when" in train_figures.sizes_list(result)


class TestAblation:
    def test_the_table_has_both_changes(self) -> None:
        table = ablation_figures.ablation_table(ablation())
        assert table.columns == ("line", "run", "status", "score", "change", "agreement", "distilbert", "seed")
        rows = {str(row[0]): row for row in table.rows}
        assert rows["random"][4] == pytest.approx(-0.25)
        assert [row[6] for row in table.rows] == [None, -2.96, -1.46, -0.31, -3.69]

    def test_the_sentence_names_what_costs_most(self) -> None:
        said = ablation_figures.ablation_sentence(ablation()).striptags()
        assert "With all three terms the student reaches 95.0%" in said
        assert "“random start”: 25.0 points less" in said

    def test_the_sentence_says_where_few_labels_are_known(self) -> None:
        few = tuple(one.evolve(spec=replace(one.spec, labelled=32)) for one in ablation().records)
        said = ablation_figures.ablation_sentence(ablation(records=few)).striptags()
        assert "With all three terms and 32 known labels the student reaches 95.0%" in said

    def test_where_nothing_costs_anything_it_says_so(self) -> None:
        records = ablation().records
        level = ablation(records=tuple(one.evolve(outcome=records[0].outcome) for one in records))
        said = ablation_figures.ablation_sentence(level).striptags()
        assert "No line costs anything: none of the other four scores less." in said
        assert "What costs most" not in said

    def test_lines_are_compared_with_all_three_terms_on_the_same_rows(self) -> None:
        rows = " ".join("1" * 160)
        kept = [
            one.evolve(outcome=replace(one.outcome, truths=rows, answers=" ".join("0" * wrong + "1" * (160 - wrong))))
            for one, wrong in zip(ablation().records, (8, 16, 9, 11, 48), strict=True)
        ]
        said = ablation_figures.ablation_sentence(ablation(records=tuple(kept))).striptags()
        assert said.endswith("25.0 points less, more than chance.")
        said = ablation_figures.ablation_list(ablation(records=tuple(kept))).striptags()
        named = "“without the soft targets”, “random start”"
        assert f"Beyond chance these lines differ from all three terms: {named} (McNemar's test" in said
        assert "all 4 lines together" in said
        near = ablation(
            records=(*kept[:4], kept[4].evolve(outcome=replace(kept[4].outcome, answers=kept[3].outcome.answers)))
        )
        assert ablation_figures.ablation_sentence(near).striptags().endswith("less, which could be chance.")
        level = ablation(records=(kept[0],) * 5)
        assert "No line differs beyond chance" in ablation_figures.ablation_list(level).striptags()

    def test_several_seeds_are_told_by_their_differences(self) -> None:
        luck = (0.0, 0.02, -0.03)
        lost = {"all": (0.0, 0.0, 0.0), "no-soft": (0.05, 0.06, 0.05), "no-cosine": (0.0, 0.02, -0.01)}
        records = []
        for seed, shift in enumerate(luck):
            for line, one in zip(ablated(THREE), ablation().records, strict=True):
                score = 0.9 + shift - lost.get(line.slug, (0.0, 0.01, 0.0))[seed]
                outcome = replace(one.outcome, metrics={"validation": {"accuracy": score, "agreement": 0.9}})
                spec = replace(one.spec, seed=seed)
                records.append(one.evolve(outcome=outcome, spec=spec, run_id=f"{one.run_id}{line.slug}{seed}"))
        result = ablation(records=tuple(records))
        said = ablation_figures.ablation_sentence(result).striptags()
        assert "the student reaches 89.7%." in said
        assert "“without the soft targets”: 5.3 points less, more than chance." in said
        listed = ablation_figures.ablation_list(result).striptags()
        assert "differ from all three terms: “without the soft targets” (Student's t" in listed
        drawn: Any = ablation_figures.ablation_figure(result)
        assert drawn["data"][0]["error_x"]["array"][0] == pytest.approx(stdev(luck))
        assert "error_x" not in drawn["data"][1]
        interval = ttest_1samp([-5, -6, -5], 0).confidence_interval()
        ends = f"{interval.low:.1f} to {interval.high:.1f}".replace("-", "−")
        assert f"−5.3 ({ends})" in ablation_figures.ablation_list(result)
        rows = ablation_figures.ablation_table(result).rows
        assert [(row[0], row[7]) for row in rows[4:7]] == [("random", 0), ("all", 1), ("no-soft", 1)]
        assert rows[6][4] == pytest.approx(-0.06), "the same seed with all three terms"

    def test_while_it_goes_on(self) -> None:
        records = ablation().records
        running = records[2].evolve(status=RunStatus.RUNNING, outcome=None, step=5)
        some = ablation(records=(*records[:2], running, records[3], records[4]))
        assert (
            "4 of 5 students have ended. Now line no-cosine: step 5 of 20."
            in ablation_figures.ablation_sentence(some).striptags()
        )
        drawn: Any = ablation_figures.ablation_figure(some)
        assert len(drawn["data"][0]["x"]) == 4
        nothing = ablation(records=tuple(one.evolve(outcome=None, status=RunStatus.QUEUED) for one in records))
        assert ablation_figures.ablation_figure(nothing) == KEPT, (
            "what was there stays until there is something to draw"
        )
        begun = ablation(
            records=(records[2].evolve(status=RunStatus.RUNNING, outcome=None, step=0, steps=0), *nothing.records[1:])
        )
        assert ablation_figures.ablation_sentence(begun).striptags().endswith("Now line no-cosine.")
        gone = ablation(records=tuple(one.evolve(outcome=None, status=RunStatus.CANCELLED) for one in records))
        assert ablation_figures.ablation_figure(gone) == ""

    def test_the_list_stands_beside_the_papers(self) -> None:
        text = str(ablation_figures.ablation_list(ablation()))
        for said in ("−2.96", "−1.46", "−0.31", "−3.69", "−25.0", "Table 4"):
            assert said in text
