"""Models fine-tuned alike: what is said beside whom, by the seeds' own differences."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest
from scipy.stats import ttest_1samp

from explorer.labs.models.tuned import (
    SUCCESSORS,
    TunedModel,
    TunedParams,
    TunedResult,
    TunedTask,
    tuned_figure,
    tuned_notes,
    tuned_scores,
    tuned_sentence,
    tuned_table,
)
from explorer.models.records import read_curve
from explorer.runs.examples import TUNED, TUNED_ON, TUNED_SEEDS
from explorer.settings import BUNDLED_MODELS
from tests.labs.drawing import assert_draws
from tests.rows import each_row


def task(**scores: tuple[float, float, float]) -> TunedResult:
    models = tuple(TunedModel(name.replace("_", "-"), found, 1000) for name, found in scores.items())
    return TunedResult((TunedTask("SST-2-like", "accuracy", 160, 0.5, models),))


FIRST = (0.80, 0.82, 0.81)


@each_row(
    ("others", "said"),
    [
        ({"better": (0.90, 0.91, 0.92)}, "beyond chance ahead of first: better."),
        ({"worse": (0.70, 0.71, 0.72)}, "beyond chance behind first: worse."),
        (
            {"better": (0.90, 0.91, 0.92), "worse": (0.70, 0.71, 0.72)},
            "beyond chance ahead of first: better; behind first: worse.",
        ),
        ({"other": (0.90, 0.79, 0.83)}, "the seeds tell none of the others from first."),
        ({"alike": (0.90, 0.92, 0.91)}, "the seeds tell none of the others from first."),
    ],
)
def test_who_is_ahead_of_the_first_is_said_where_the_seeds_say_so(
    others: dict[str, tuple[float, float, float]], said: str
) -> None:
    noted = tuned_notes(task(first=FIRST, **others)).striptags()
    assert said in noted
    assert "SST-2-like: scores are of 160 held-out examples." in noted
    for name, scores in others.items():
        apart = [round(one - other, 6) for one, other in zip(scores, FIRST, strict=True)]
        if len(set(apart)) == 1:  # three times the same: no spread to judge by, and three signs alone are chance
            assert name == "alike"
            continue
        pairs = len(others) * (len(others) + 1) // 2
        assert (pairs * ttest_1samp(apart, 0).pvalue < 0.05) == (name in ("better", "worse"))


@pytest.mark.parametrize(
    ("other", "said", "noted"),
    [
        (
            (0.90, 0.79, 0.83),
            "other leads on SST-2-like with accuracy 84.0%.",
            "SST-2-like: other leads; its lead over first could be chance; the seeds tell none",
        ),
        (
            (0.90, 0.91, 0.92),
            "other leads on SST-2-like with accuracy 91.0%.",
            "SST-2-like: other leads, ahead of first by more than chance; beyond chance ahead of first: other.",
        ),
        (
            (0.82, 0.80, 0.81),
            "first and other lead on SST-2-like with accuracy 81.0%.",
            "SST-2-like: the seeds tell none of the others from first.",
        ),
    ],
)
def test_the_best_is_named_with_its_mean_and_below_how_sure_that_is(
    other: tuple[float, float, float], said: str, noted: str
) -> None:
    result = task(first=FIRST, other=other)
    assert tuned_sentence(result).striptags() == f"Fine-tuned alike, {said}"
    assert noted in tuned_notes(result).striptags()


def test_the_leaders_of_two_tasks_stand_in_one_sentence() -> None:
    [one], [other] = task(first=FIRST, other=(0.9, 0.9, 0.9)).tasks, task(first=FIRST, other=(0.7, 0.7, 0.7)).tasks
    said = tuned_sentence(TunedResult((one, replace(other, title="QQP-like")))).striptags()
    assert said == (
        "Fine-tuned alike, other leads on SST-2-like with accuracy 90.0% and first leads on QQP-like with accuracy 81.0%."
    )


def test_every_seed_is_drawn_beside_its_mean_and_tabled() -> None:
    result = tuned_scores(TunedParams())
    assert len(result.tasks) == len(TUNED_ON)
    drawn = assert_draws(tuned_figure(result))
    seeds, means = drawn.data[0], drawn.data[1]
    assert len(seeds.x) == len(TUNED) * len(TUNED_SEEDS)
    assert list(means.x) == pytest.approx([fmean(one.scores) for one in result.tasks[0].models])
    assert len(tuned_table(result).rows) == len(TUNED) * len(TUNED_SEEDS) * len(TUNED_ON)
    assert all(found.guessing < one.mean for found in result.tasks for one in found.models), (
        "each has learned something"
    )


@pytest.mark.parametrize(("name", "apology"), [("roberta-mini", False), ("gpt2-mini", True)])
def test_that_no_successor_is_ahead_is_said_where_none_is(name: str, apology: bool) -> None:
    result = task(bert_mini=FIRST, **{name.replace("-", "_"): (0.90, 0.91, 0.92)})
    assert ("no successor is seen to do better than BERT" in tuned_notes(result).striptags()) is apology


@each_row("name", SUCCESSORS)
def test_a_successor_was_trained_for_half_an_hour_as_the_notes_say(name: str) -> None:
    assert read_curve(BUNDLED_MODELS / name)[-1]["seconds"] / 60 == pytest.approx(30, abs=5)
