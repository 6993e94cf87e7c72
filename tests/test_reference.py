"""Every action is explained, by what stands in the code already."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest

import explorer
from explorer.action import Action, LiveAction
from explorer.params import declared
from explorer.reference import reference
from tests.rows import each_row

ACTIONS = explorer.actions()
THE_SAME_JOB = {"distillation_losses", "soft_gradients"}


@each_row("name", ACTIONS)
def test_every_action_is_explained_with_all_that_it_takes_and_gives(name: str) -> None:
    action = ACTIONS[name]
    said = reference(action)
    for text in (said.summary, said.about, said.columns):
        assert text
        assert text[-1] in ".?"
        assert "Raise" not in text
        assert "\n" not in text
    assert said.about.startswith(said.summary)
    assert set(said.parameters) == {*declared(action.params), *(["model"] if action.takes_model else [])}
    for parameter in said.parameters.values():
        assert len(parameter.about) > 2, parameter
        assert parameter.said[-1] in ".?", parameter


def test_no_two_actions_are_said_to_be_the_same() -> None:
    summaries = [reference(action).summary for name, action in ACTIONS.items() if name not in THE_SAME_JOB]
    assert len(set(summaries)) == len(summaries)


def test_a_docstring_that_is_read_is_the_one_that_python_imports() -> None:
    action: Action | LiveAction = ACTIONS["fill_masks"]
    assert isinstance(action, Action)
    module, name = action.job.function.split(":")
    imported = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
    assert imported.startswith(reference(action).summary)


def test_a_parameter_is_explained_where_it_is_declared() -> None:
    filled = reference(ACTIONS["fill_masks"]).parameters
    assert filled["top_k"].said == "Predictions for each blank. A whole number from 1 to 50."
    assert filled["top_k"].default == 5
    assert filled["also_mask"].about.startswith("What else is hidden")  # below the field
    assert filled["also_mask"].several
    swept = reference(ACTIONS["masking_rates"]).parameters["seed"]
    assert swept.about.startswith("Seed: of the choice of tokens")  # in the class's docstring
    assert "one of token, whole_word, ngram" in reference(ACTIONS["corrupt"]).parameters["scheme"].accepts
    assert reference(ACTIONS["soft_targets"]).parameters["temperature"].accepts == "a number above 0 to 1,000"


def test_threads_that_parse_at_once_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.11's ast.parse ends in a SystemError where two threads are in it."""
    from concurrent.futures import ThreadPoolExecutor

    reference_module = importlib.import_module("explorer.reference")

    inside, most = [0], [0]
    parse = reference_module.ast.parse

    def counted(*given: Any, **named: Any) -> Any:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        found = parse(*given, **named)
        inside[0] -= 1
        return found

    monkeypatch.setattr(reference_module.ast, "parse", counted)
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(reference_module._nodes, ["explorer.reference", "explorer.params"] * 8))
    assert most[0] == 1
