"""RoBERTa's ablations: as published, and compared within their tables."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.labs.models import recipe as figures
from explorer.labs.models.recipe import SCORES, STEPS, WHY, RecipeParams, recipe_steps


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
    drawn = figures.recipe_figure(result)
    values = [value for trace in drawn["data"] for value in trace["x"]]
    assert values == [row.score(score) for row in result.settings if row.score(score) is not None]
    assert drawn["described"] == figures.recipe_sentence(result).striptags()
    assert len(figures.recipe_table(result).rows) == len(result.settings)


def test_a_score_that_a_table_does_not_have_is_said_to_be_missing() -> None:
    result = recipe_steps(RecipeParams("squad2"))
    said = "On SQuAD 2.0 the step that gains most is text and steps: +7.6 points."
    assert figures.recipe_sentence(result).striptags() == said
    assert "batch size (not in Table 3)" in figures.recipe_notes(result)
    assert "text and steps +7.6 (" in figures.recipe_notes(result)


def test_an_unknown_score_is_named_with_those_there_are() -> None:
    with pytest.raises(BadInputError, match="mnli, sst2, squad2"):
        RecipeParams("race")


def test_each_batch_size_is_named_with_its_peak_rate() -> None:
    names = [row.setting.split(", ") for row in recipe_steps(RecipeParams()).of(3)]
    assert [(batch, rate) for batch, _, rate in names] == [("256", "1e-4"), ("2K", "7e-4"), ("8K", "1e-3")]
    assert "undertrained" in WHY
    assert WHY.count("\n* ") == 4
