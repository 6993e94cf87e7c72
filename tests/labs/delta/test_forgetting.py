"""What runs have forgotten as a picture, a sentence and a table, from results made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.errors import BadInputError
from explorer.labs.delta import forgetting
from explorer.labs.delta.forgetting import Estimate, ForgettingResult, Remembered, require_a_run
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe


def around(value: float, by: float = 0.02) -> Estimate:
    return Estimate(value, value - by, value + by)


def run(name: str = "LoRA r=8 · cats", accuracy: float = 0.4, score: float | None = 0.95) -> Remembered:
    change = accuracy - 0.5
    return Remembered(name, "LoRA", "accuracy", score, around(accuracy), around(3), around(change), around(3 * -change))


def result(*runs: Remembered, wanted: int = 2) -> ForgettingResult:
    made = runs or (run(), run("BitFit · cats", 0.49))
    return ForgettingResult("bert-small", 40, 90, around(0.5), around(2.8), made, (("Prompt", "it is input."),), wanted)


def test_the_table_begins_with_the_model_before() -> None:
    table = forgetting.forgetting_table(result())
    first, second, _ = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (first["run"], first["accuracy"], first["accuracy_change"]) == (forgetting.BEFORE, 0.5, None)
    assert second["run"] == "LoRA r=8 · cats"
    assert second["accuracy_change"] == pytest.approx(-0.1)
    assert second["change_low"] == pytest.approx(-0.12)
    assert second["loss_change"] == pytest.approx(0.3)


def test_the_sentence_names_the_run_that_has_kept_least_and_the_one_that_has_kept_most() -> None:
    text = forgetting.forgetting_sentence(result()).striptags()
    assert text == "After LoRA r=8 bert-small guesses fewest of the hidden words: 40.0%; before any fine-tuning 50.0%."
    text = forgetting.forgetting_notes(result()).striptags()
    assert "Of 90 hidden words in 40 held-out sentences bert-small guesses 50.0% before any fine-tuning" in text
    assert "After LoRA r=8, which reaches accuracy 95.0% on its task, it is 40.0% (−10.0 points, −12.0 to −8.0)" in text
    assert "after BitFit, which reaches accuracy 95.0% on its task, it is 49.0%" in text
    assert "No change beyond chance in accuracy: BitFit." in text
    assert "more to read" not in text


def test_while_it_is_measured_it_says_how_many_are_left() -> None:
    nothing = replace(result(), runs=())
    assert forgetting.forgetting_sentence(nothing).striptags().endswith("before any fine-tuning; 2 runs to read.")
    assert "2 runs are being read" in forgetting.forgetting_notes(nothing)
    assert_draws(forgetting.forgetting_figure(nothing))
    assert "1 more to read" in forgetting.forgetting_notes(result(run()))
    assert " guesses of the hidden words " in forgetting.forgetting_sentence(result(run()))


def test_bars_have_their_intervals_and_the_model_s_own_level() -> None:
    figure = assert_draws(forgetting.forgetting_figure(result()))
    accuracy, change = (trace for trace in figure.data if trace.type == "bar")
    assert tuple(accuracy.x) == (0.5, 0.4, 0.49)
    assert tuple(accuracy.error_x.array) == pytest.approx((0.02, 0.02, 0.02))
    assert tuple(change.x) == pytest.approx((0, 0.3, 0.03))
    assert figure.layout.shapes[0].x0 == 0.5
    assert tuple(figure.layout.yaxis.ticktext) == (forgetting.BEFORE, "LoRA r=8", "BitFit")


def test_what_is_left_out_is_named_with_its_reason() -> None:
    assert "Prompt is left out: it is input." in forgetting.forgetting_notes(result()).striptags()
    require_a_run(result())
    with pytest.raises(BadInputError, match="Prompt: it is input"):
        require_a_run(replace(result(), runs=()))


@pytest.mark.parametrize("text", HOSTILE)
def test_names_stay_text(text: str) -> None:
    made = replace(result(run(text)), left_out=((text, "no."),))
    assert_safe(forgetting.forgetting_sentence(made), text)
    assert_safe(forgetting.forgetting_notes(made), text, ("p", "strong"))
    assert not any("<" in name for name in forgetting.forgetting_figure(made)["layout"]["yaxis"]["ticktext"])
