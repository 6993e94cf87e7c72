"""How far layers move a state, against the models' own hidden states."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

import explorer
from explorer.errors import BadInputError
from explorer.labs.models import movement as figures
from explorer.labs.models.movement import Movement, MovementParams, MovementResult, Step
from explorer.settings import BUNDLED_MODELS
from tests.rows import each_row

TEXT = "The cat sat on the mat."


@pytest.mark.parametrize("name", ["albert-mini", "distilbert-mini", "gpt2-mini"])
def test_steps_are_those_of_the_models_own_states(name: str) -> None:
    found = explorer.run("layer_movement", models=name, text=TEXT).result.models[0]
    tokenizer = AutoTokenizer.from_pretrained(BUNDLED_MODELS / name)
    model = AutoModel.from_pretrained(BUNDLED_MODELS / name, dtype=torch.float32).eval()
    inputs = tokenizer(TEXT, return_tensors="pt", return_special_tokens_mask=True)
    special = inputs.pop("special_tokens_mask")[0].bool()
    with torch.no_grad():
        states = [s[0, ~special].double().numpy() for s in model(**inputs, output_hidden_states=True).hidden_states]
    assert len(found.steps) == len(states) - 1
    for step, before, after in zip(found.steps, states, states[1:], strict=False):
        norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
        angles = np.degrees(np.arccos((before * after).sum(1) / norms))
        assert step.angle == pytest.approx(angles.mean(), abs=1e-2)
        assert step.distance == pytest.approx(np.linalg.norm(after - before, axis=1).mean(), rel=1e-3)
    assert found.tokens == int((~special).sum())
    assert found.shares == (name == "albert-mini")


def test_triangle_of_input_step_and_output() -> None:
    """No step is longer than its two ends together, and angles lie between 0 and 180 degrees."""
    for entry in explorer.run("layer_movement").result.models:
        ends = [step.length for step in entry.steps]
        for step, after in zip(entry.steps, ends[1:], strict=False):
            assert 0 < step.angle < 180
            assert abs(after - step.length) <= step.distance + 1e-6 <= after + step.length + 1e-5


def test_figure_sentence_and_table_say_the_same() -> None:
    steps = (Step(1, 30.0, 2.0, 5.0), Step(2, 10.0, 1.0, 6.0))
    result = MovementResult((Movement("one", True, 7, steps), Movement("two", False, 7, steps[:1])))
    assert [list(trace["y"]) for trace in figures.movement_figure(result)["data"]] == [[30, 10], [30], [2, 1], [2]]
    assert figures.movement_table(result).rows[1] == ("one", 2, 10.0, 1.0, 6.0, 7)
    sentence = figures.movement_sentence(result)
    assert "<strong>20.0°</strong>" in sentence
    assert "one layer, used at every depth" in figures.movement_notes(result)
    assert "on average, between " in figures.movement_notes(result)
    alone = figures.movement_sentence(replace(result, models=result.models[:1])).striptags()
    assert alone.startswith(f"A layer of {result.models[0].model} turns a state by ")
    assert alone.endswith("° on average.")


@each_row(
    ("given", "says"),
    [
        ({"models": ""}, "one to 4 names"),
        ({"models": "a,b,c,d,e"}, "one to 4 names"),
        ({"models": {"x": 1}}, "names as a list"),
        ({"text": 3}, "Type a sentence first"),
    ],
)
def test_bad_input_is_a_sentence(given: dict[str, object], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        MovementParams(**given)  # type: ignore[arg-type]


def test_a_text_that_is_empty_or_too_long_names_the_fix() -> None:
    for text, says in (("  ", "Type a sentence"), ("word " * 600, "Shorten it")):
        with pytest.raises(BadInputError, match=says):
            explorer.run("layer_movement", models="bert-mini", text=text)
