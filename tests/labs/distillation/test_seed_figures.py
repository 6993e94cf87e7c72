"""What is said of a comparison over several seeds: true whichever way it goes, and none where there is nothing to say."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import ttest_rel

from explorer.labs.distillation.seeds_figures import seeds_figure, seeds_list, seeds_sentence, seeds_table
from explorer.labs.distillation.train import Seeded
from explorer.runs.record import RunStatus
from explorer.tuning.spec import RunSpec
from tests.labs.distillation.samples import SPEC, on_text, seeded, student, teacher
from tests.rows import each_row

HIGH, LOW = (0.85, 0.86, 0.87, 0.84, 0.86), (0.70, 0.72, 0.69, 0.71, 0.70)


def said(result: Seeded) -> str:
    return seeds_sentence(result).striptags()


def noted(result: Seeded) -> str:
    """What stands below the table."""
    return seeds_list(result).striptags()


@each_row(
    ("with_teacher", "without", "verdict"),
    [
        (HIGH, LOW, "The teacher helps: +15.2 points"),
        (LOW, HIGH, "The teacher harms: −15.2 points"),
        ((0.94, 0.95, 0.93), (0.93, 0.95, 0.95), "No difference beyond chance: −0.3 points"),
        ((0.9, 0.9), (0.9, 0.9), "No difference beyond chance: 0.0 points"),
    ],
)
def test_the_verdict_is_the_intervals(with_teacher: Any, without: Any, verdict: str) -> None:
    assert said(seeded(with_teacher, without)).startswith(verdict)


def test_the_sentence_has_means_interval_seeds_and_held_out_examples() -> None:
    text = noted(seeded(HIGH, LOW))
    ends = ttest_rel(HIGH, LOW).confidence_interval()
    assert f"95% interval +{100 * ends.low:.1f} to +{100 * ends.high:.1f}" in text
    assert "The student, 3 layers of bert-small, reaches accuracy 85.6% with its teacher" in text
    assert "and 70.4% on 32 labels alone" in text
    assert "Both know the same 32 labels, other ones in every seed; one also reads 480 texts" in text
    assert "same 160 held-out examples" in text
    assert "The teacher, LoRA r=8 of bert-small, has learned from all labels." in text


def test_what_the_teacher_learned_from_is_its_own() -> None:
    few = teacher(spec=RunSpec("bert-small", examples=200))
    assert "has learned from 200 labels" in noted(seeded(HIGH, LOW, teacher=few))
    assert "was trained elsewhere" in noted(seeded(HIGH, LOW, teacher=teacher(status=RunStatus.IMPORTED)))
    assert "The teacher, " not in noted(seeded(HIGH, LOW, labelled=0))
    hostile = noted(seeded(HIGH, LOW, teacher=teacher(name="<img onerror=x>")))
    assert "<img" not in str(seeds_list(seeded(HIGH, LOW, teacher=teacher(name="<img onerror=x>"))))
    assert "onerror" in hostile


def test_who_knows_which_labels_is_said_as_it_is() -> None:
    every = seeded(HIGH, LOW, labelled=0)
    assert "both know every label" in noted(every)
    assert "on all labels alone" in noted(every)
    for labelled, expected in (
        (32, "no label, the other 32 labels"),
        (0, "only the one without a teacher knows labels"),
    ):
        soft = seeded(HIGH, LOW, labelled=labelled)
        pairs = tuple((replace(one, spec=replace(one.spec, hard_weight=0.0)), other) for one, other in soft.pairs)
        assert expected in noted(replace(soft, pairs=pairs))


def test_the_table_is_every_seeds_pair() -> None:
    table = seeds_table(seeded(HIGH, LOW))
    assert table.columns == ("seed", "with_teacher", "without_teacher", "difference")
    assert [row[:3] for row in table.rows] == list(zip(range(5), HIGH, LOW, strict=True))
    assert [row[3] for row in table.rows] == pytest.approx([a - b for a, b in zip(HIGH, LOW, strict=True)])


def test_the_figure_has_every_dot_and_the_interval() -> None:
    result = seeded(HIGH, LOW)
    drawn: Any = seeds_figure(result)
    by_name = {trace["name"]: trace for trace in drawn["data"] if "name" in trace}
    assert by_name["with teacher"]["x"] == list(HIGH)
    assert by_name["without"]["x"] == list(LOW)
    assert by_name["difference"]["x"] == pytest.approx([100 * (a - b) for a, b in zip(HIGH, LOW, strict=True)])
    assert by_name["teacher"]["x"] == [0.95, 0.95]
    mean = by_name["mean and 95% interval"]
    assert result.interval is not None
    assert mean["x"][0] + mean["error_x"]["array"][0] == pytest.approx(100 * result.interval.high)
    assert mean["x"][0] - mean["error_x"]["arrayminus"][0] == pytest.approx(100 * result.interval.low)
    low, high = drawn["layout"]["xaxis2"]["range"]
    assert low < 0 < 100 * result.interval.high < high
    assert json.dumps(drawn)


def test_the_list_ends_in_the_mean() -> None:
    rows = str(seeds_list(seeded(HIGH, LOW))).split("<tr>")
    assert len(rows) == 1 + 1 + 5 + 1
    assert "<td>85.6%</td><td>70.4%</td><td>+15.2 (" in rows[-1]


def test_one_seed_is_no_interval() -> None:
    one = seeded(HIGH[:1], LOW[:1])
    assert said(one) == (
        "One seed says little: another seed gives another difference. Set Seeds to 5 and train, to have an interval."
    )
    assert seeds_figure(one) == ""
    assert seeds_list(one) == ""
    assert len(seeds_table(one).rows) == 1


def test_seeds_that_still_train_are_left_out_and_said() -> None:
    result = seeded(HIGH, LOW)
    going = (result.pairs[0][0], student(0.5, outcome=None, status=RunStatus.RUNNING, spec=SPEC))
    some = replace(result, pairs=(*result.pairs[1:], going))
    assert "over 4 seeds" in said(some)
    assert "1 of 5 seeds still train." in said(some)
    assert seeds_table(some).rows[-1][2:] == (None, None)
    one = replace(result, pairs=(going,))
    assert said(one) == "One seed says little: another seed gives another difference. 1 of 1 seeds still train."


def test_students_without_a_companion_and_on_a_text() -> None:
    lone = replace(seeded(HIGH, LOW), pairs=tuple(pair[:1] for pair in seeded(HIGH, LOW).pairs))
    assert lone.interval is None
    assert seeds_figure(lone) == ""
    first, second = on_text().students
    pairs = tuple((replace(first, run_id=f"a{n}"), replace(second, run_id=f"b{n}")) for n in range(2))
    text = noted(Seeded(None, pairs))
    assert "on the hidden words alone" in text
    assert "1,000 hidden words of sentences that are held out" in text
