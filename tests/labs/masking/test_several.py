"""Several blanks: what each way fills in, held against the single fill, the chain rule, and each other."""

from __future__ import annotations

import math

import pytest

import explorer
from explorer.errors import BadInputError
from explorer.labs.masking import several as figures
from explorer.labs.masking.jobs import fill_masks
from explorer.labs.masking.schema import FillParams
from explorer.labs.masking.several import MOST, ORDERS, Filling, FillingStep, SeveralParams, SeveralResult
from explorer.labs.masking.several_jobs import fill_several
from explorer.models.loaded_model import LoadedModel
from tests.labs.drawing import HOSTILE, assert_draws, assert_safe
from tests.rows import each_row

TEXT = "The [MASK] lives in [MASK] [MASK], a city in California."


@pytest.fixture(scope="module")
def ways(loaded: LoadedModel) -> dict[str, Filling]:
    return {filling.order: filling for filling in fill_several(loaded, SeveralParams(TEXT, 3)).fillings}


def test_each_alone_is_what_filling_one_look_gives(loaded: LoadedModel, ways: dict[str, Filling]) -> None:
    masks = fill_masks(loaded, FillParams(TEXT, 1)).masks
    alone = ways["each alone"].last
    assert alone.tokens == tuple(mask.predictions[0].token for mask in masks)
    assert alone.probabilities == pytest.approx([mask.predictions[0].probability for mask in masks], rel=1e-4)


def test_left_to_right_follows_the_chain_rule_look_by_look(loaded: LoadedModel, ways: dict[str, Filling]) -> None:
    text, filling = TEXT, ways["left to right"]
    assert [sum(step.fresh) for step in filling.steps] == [1, 1, 1]
    for blank, token in enumerate(filling.last.tokens):
        guess = fill_masks(loaded, FillParams(text, 1)).masks[0].predictions[0]
        assert guess.token == token
        assert filling.last.probabilities[blank] == pytest.approx(guess.probability, rel=1e-4)
        text = text.replace("[MASK]", guess.token, 1)
    assert filling.joint == pytest.approx(filling.as_chosen, abs=1e-4)


def test_surest_first_takes_the_likeliest_blank_each_time(loaded: LoadedModel, ways: dict[str, Filling]) -> None:
    masks = fill_masks(loaded, FillParams(TEXT, 1)).masks
    sure = [mask.predictions[0].probability for mask in masks]
    first = ways["surest first"].steps[0]
    assert first.fresh.index(True) == sure.index(max(sure))
    assert sum(token is not None for token in first.tokens) == 1


def test_steps_guess_fewer_each_time_and_one_step_is_each_alone(loaded: LoadedModel, ways: dict[str, Filling]) -> None:
    steps = ways["in steps"].steps
    assert [sum(step.fresh) for step in steps] == [3, 2, 1]
    least = sorted(steps[0].probabilities, key=lambda share: share or 0)[:2]
    assert [share for share, fresh in zip(steps[0].probabilities, steps[1].fresh, strict=True) if fresh] == [
        share for share in steps[0].probabilities if share in least
    ]
    one = {filling.order: filling for filling in fill_several(loaded, SeveralParams(TEXT, 1)).fillings}
    assert one["in steps"].steps == one["each alone"].steps == ways["each alone"].steps


def test_blanks_that_see_each_other_fit_together(loaded: LoadedModel) -> None:
    result = explorer.run("fill_several").result
    ways = {filling.order: filling for filling in result.fillings}
    assert ways["left to right"].joint >= ways["each alone"].joint
    assert result.best.joint == max(filling.joint for filling in result.fillings)
    assert [filling.order for filling in result.fillings] == list(ORDERS)


@each_row(
    ("text", "said"),
    [
        ("It rains.", "This text has 0 blanks: write 2 to 12, each as"),
        ("It [MASK].", "This text has 1 blank:"),
        ("[MASK] " * (MOST + 1), "has 13 blanks"),
        (" ", "Type a sentence first"),
    ],
)
def test_texts_without_several_blanks_are_refused(loaded: LoadedModel, text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said.replace("[", r"\[")):
        fill_several(loaded, SeveralParams(text))


def made(*words: str, joint: float = -3.0, order: str = "each alone") -> Filling:
    """A filling in as many steps as words, from left to right."""
    steps = tuple(
        FillingStep(
            tuple(word if place <= step else None for place, word in enumerate(words)),
            tuple(0.5 if place <= step else None for place in range(len(words))),
            tuple(place == step for place in range(len(words))),
        )
        for step in range(len(words))
    )
    return Filling(order, steps, joint)


def result_of(*fillings: Filling) -> SeveralResult:
    return SeveralResult("bert-small", (3, 5), fillings)


def test_figure_sentence_and_table_tell_the_same() -> None:
    result = result_of(made("San", "Angeles", joint=-7), made("Los", "Angeles", joint=-2, order="left to right"))
    figure = assert_draws(figures.several_figure(result))
    assert figure.data[0].z[0] == [0.5, None]
    said, facts = figures.several_sentence(result).striptags(), figures.several_facts(result).striptags()
    assert said == "Likeliest together is “Los … Angeles”, not “San … Angeles”, what each blank alone gives."
    assert "left to rightLos … Angeles−2.00" in facts
    assert "bert-small. Each alone: every blank is guessed without knowing what the others will hold." in facts
    better = result_of(made("San", "Angeles", joint=-1), made("Los", "Angeles", joint=-2, order="left to right"))
    said = figures.several_sentence(better).striptags()
    assert said == "Likeliest together is “San … Angeles”, what each blank alone gives."
    table = figures.several_table(result)
    assert table.columns == ("order", "step", "position", "token", "probability", "joint")
    assert table.rows[1] == ("each alone", 1, 5, None, None, -7)
    assert len(table.rows) == 8
    same = figures.several_sentence(result_of(made("a", "b"), made("a", "b")))
    assert same.striptags() == "All four ways fill in “a … b”."
    assert result.fillings[0].as_chosen == pytest.approx(2 * math.log(0.5))


@each_row("text", HOSTILE)
def test_what_a_vocabulary_holds_stays_text(text: str) -> None:
    result = result_of(made(text, "b"), made("c", "d", joint=-9))
    assert_safe(figures.several_sentence(result), text)
    assert_safe(figures.several_facts(result), text, ("table", "thead", "tbody", "tr", "th", "td", "p"))
    assert_draws(figures.several_figure(result))
