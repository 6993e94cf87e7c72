"""What a step's answer is computed from: the bundled lessons' claims hold, and mistakes are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import pipeline

from explorer.engine.local import LocalEngine
from explorer.errors import BadInputError
from explorer.lessons.reading import bundled
from explorer.lessons.schema import Reveal, Step
from explorer.lessons.truth import Measured, measure
from explorer.settings import BUNDLED_MODELS, Settings
from tests.loops import run
from tests.rows import each_row

STEPS = {f"{name}/{number}": step for name, one in bundled().items() for number, step in enumerate(one.steps, start=1)}
BLANK = "The keys to the cabinet [MASK] on the table."


@pytest.fixture(scope="module")
def engine(data_folder: Path) -> LocalEngine:
    """The app's own."""
    return LocalEngine(Settings(device="cpu", offline=True, data_folder=data_folder))


def asked(engine: LocalEngine, **answer: Any) -> Measured:
    step = Step.model_validate({"at": answer.pop("at", ""), "title": "T", "question": "Q", "answer": answer})
    return run(measure(engine, step))


@pytest.mark.parametrize("name", STEPS)
def test_a_bundled_step_s_answer_is_computed_and_what_is_said_of_it_holds(name: str, engine: LocalEngine) -> None:
    step = STEPS[name]
    found = run(measure(engine, step))
    assert step.answer
    if step.answer.truth is None and step.answer.right is None:
        assert found.value is None
        return
    assert found.said
    assert found.by or step.answer.right is not None
    assert step.reveal
    assert found.reveal == step.reveal.text, f"of {found.said} the reveal isn't true"
    if step.answer.kind == "choice":
        assert found.value in step.answer.choices


def test_the_blank_s_answer_is_that_of_transformers_pipeline(engine: LocalEngine) -> None:
    truth = {"action": "fill_masks", "column": "token", "beside": "probability", "times": 100, "given": {"top_k": 5}}
    found = asked(engine, at=f"#text={BLANK}", kind="word", truth=truth)
    theirs = pipeline("fill-mask", str(BUNDLED_MODELS / "bert-small"), top_k=5, dtype=torch.float32)(BLANK)
    assert found.value == theirs[0]["token_str"]
    assert [name for name, _ in found.beside] == [one["token_str"] for one in theirs]
    for (_, share), one in zip(found.beside, theirs, strict=True):
        assert share == pytest.approx(100 * one["score"], abs=1e-2)


def test_the_address_s_model_is_the_one_that_is_asked(engine: LocalEngine) -> None:
    truth = {"action": "fill_masks", "column": "probability", "times": 100}
    small, mini = (
        asked(engine, at=f"#text={BLANK}&model={model}", kind="number", truth=truth)
        for model in ("bert-small", "bert-mini")
    )
    assert (small.by, mini.by) == ("bert-small", "bert-mini")
    assert small.value != mini.value


@pytest.mark.parametrize(("take", "expected"), [("count", 8.0), ("sum", 8.0), ("mean", 4.0)])
def test_what_is_made_of_several_rows(take: str, expected: float, engine: LocalEngine) -> None:
    """Pearson and Spearman of three points on a line are both 1."""
    points = [[1, 1], [2, 2], [3, 3]]
    truth = {"action": "correlate", "column": "value", "given": {"points": points}, "take": take, "times": 4}
    assert asked(engine, kind="number", truth=truth).value == pytest.approx(expected)


@each_row(
    ("truth", "says"),
    [
        ({"action": "nothing", "column": "x"}, "no action"),
        ({"action": "train", "column": "x"}, "no action"),
        ({"action": "fill_masks", "column": "colour"}, "gives position, rank, token, probability"),
        ({"action": "fill_masks", "column": "token", "where": {"rank": 99}}, "no such row"),
        ({"action": "fill_masks", "column": "token", "row": 99}, "99"),
        ({"action": "fill_masks", "column": "token", "given": {"wishes": 3}}, "no wishes"),
        ({"action": "score_pair", "column": "probability"}, "needs sentence_a"),
        ({"action": "directions_of_fifty", "column": "rank", "opening": 7}, "number 7"),
        ({"action": "fill_masks", "column": "token"}, "no number here"),
    ],
)
def test_what_cannot_be_computed_is_told(truth: dict[str, Any], says: str, engine: LocalEngine) -> None:
    with pytest.raises(BadInputError, match=says):
        asked(engine, at=f"#text={BLANK}", kind="number", truth=truth)


def test_a_reveal_is_said_only_of_what_it_is_true_of() -> None:
    assert Reveal(text="T", least=1, most=2).holds(1.5)
    assert not Reveal(text="T", least=1, most=2).holds(2.5)
    assert not Reveal(text="T", least=1).holds("three")
    assert Reveal(text="T", among=("Are",)).holds("are")
    assert not Reveal(text="T", among=("are",)).holds("is")
    assert Reveal(text="T").holds(None)
