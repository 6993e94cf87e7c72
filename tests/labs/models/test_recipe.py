"""RoBERTa's ablations: as published, and compared within their tables."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.labs.models import recipe_figures as figures
from explorer.labs.models.recipe import WHY, recipe_steps
from explorer.labs.models.recipe_schema import SCORES, STEPS, RecipeParams
from tests.labs.drawing import assert_draws


def test_each_table_is_compared_with_one_row_of_its_own() -> None:
    result = recipe_steps(RecipeParams())
    for table in STEPS:
        assert [result.gain(row) for row in result.of(table) if row.is_start] == [0.0]
    gains = {row.setting: result.gain(row) for row in result.settings}
    assert gains["dynamic: drawn anew"] == -0.3
    assert gains["full sentences, no NSP"] == 0.7
    assert gains["160 GB, 500K steps"] == 3.6


@pytest.mark.parametrize("score", SCORES)
def test_the_sentence_and_the_figure_say_the_same_of_every_score(score: str) -> None:
    result = recipe_steps(RecipeParams(score))
    drawn = figures.recipe_figure(result, "rows")
    values = [value for trace in drawn["data"] for value in trace["x"]]
    assert values == [row.score(score) for row in result.settings if row.score(score) is not None]
    assert drawn["described"] == figures.recipe_sentence(result).striptags()
    assert len(figures.recipe_table(result).rows) == len(result.settings)


@pytest.mark.parametrize("score", SCORES)
def test_each_step_of_the_staircase_goes_from_one_row_of_a_table_to_another(score: str) -> None:
    result = recipe_steps(RecipeParams(score))
    steps = result.climbed()
    drawn = assert_draws(figures.recipe_figure(result))
    bars = [trace for trace in drawn.data if trace.type == "bar"]
    gains = [(low, low + high) for trace in bars[1::2] for low, high in zip(trace.base, trace.y, strict=True)]
    assert [low for low, _ in gains] == [min(step.before, step.after) for step in steps]
    assert [high for _, high in gains] == pytest.approx([max(step.before, step.after) for step in steps])
    same, more, longer = [step for step in steps if step.table == 4]
    assert (same.after, more.after) == (
        more.before,
        longer.before,
    )  # the large model's steps lead from each to the next


@pytest.mark.parametrize("score", SCORES)
def test_undertrained_is_what_the_numbers_say_of_every_task(score: str) -> None:
    steps = recipe_steps(RecipeParams(score)).climbed()
    alone = sum(step.gain for step in steps if step.table < 4)
    parts = [step.gain for step in steps if step.table == 4]
    assert all(gain > 0 for gain in parts)
    assert parts[0] > alone


def test_the_sentence_takes_the_large_model_s_three_gains() -> None:
    said = figures.recipe_sentence(recipe_steps(RecipeParams())).striptags()
    assert said == (
        "On MNLI-m the large model gains +2.4 points on about the same text, +3.6 with more text and more steps: "
        "BERT was undertrained."
    )


def test_a_score_that_a_table_does_not_have_is_said_to_be_missing() -> None:
    result = recipe_steps(RecipeParams("squad2"))
    assert len(result.climbed()) == 5
    assert "batch size (not in Table 3)" in figures.recipe_notes(result)
    assert "masks drawn anew −0.3" in figures.recipe_notes(recipe_steps(RecipeParams()))


def test_an_unknown_score_is_named_with_those_there_are() -> None:
    with pytest.raises(BadInputError, match="mnli, sst2, squad2"):
        RecipeParams("race")


def test_each_batch_size_is_named_with_its_peak_rate() -> None:
    names = [row.setting.split(", ") for row in recipe_steps(RecipeParams()).of(3)]
    assert [(batch, rate) for batch, _, rate in names] == [("256", "1e-4"), ("2K", "7e-4"), ("8K", "1e-3")]
    assert "undertrained" in WHY
    assert WHY.count("\n* ") == 4
