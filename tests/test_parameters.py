"""Values of the wrong kind for every parameter of every action: refused in a sentence, before anything is computed."""

from __future__ import annotations

import math
from dataclasses import MISSING, fields
from typing import Any, get_type_hints

import pytest

from explorer.action import Action, LiveAction
from explorer.errors import BadInputError, ExplorerError
from explorer.labs import LABS
from tests.rows import each_row

ACTIONS = [action for lab in LABS for action in lab.actions]
ODD: tuple[Any, ...] = (
    {"odd": 1}, [["x", None]], [{"odd": 1}], ["a"], "\ud800", "", "x" * 100_000, 5.5, -1, 10**30, True, None,
    math.nan, math.inf,
)  # fmt: skip


def standard(action: Action | LiveAction) -> dict[str, Any]:
    """Every parameter at its default, and something where there is none."""
    made = {}
    for field in fields(action.params):
        made[field.name] = "One here. Two there." if field.default is MISSING else field.default
    return made


@each_row("action", ACTIONS, ids=[action.name for action in ACTIONS])
def test_what_cannot_be_used_is_refused_in_a_sentence(action: Action | LiveAction) -> None:
    kinds = get_type_hints(action.params)
    for name, kind in kinds.items():
        for odd in ODD:
            try:
                made = action.params(**{**standard(action), name: odd})
            except ExplorerError as error:
                said = str(error)
                assert said.encode()
                assert 10 < len(said) < 1300, (name, said[:300])
                assert said[-1] in ".!?", (name, said[:300])
            else:
                hash(made)
                assert not isinstance(odd, dict), (name, odd)
                assert not (isinstance(odd, list) and kind in (str, bool, int, float)), (name, odd)
                if kind is str:
                    assert getattr(made, name).encode() is not None


@each_row(
    ("name", "parameter", "value", "said"),
    [
        ("fill_masks", "text", ["a"], "text must be a text; got a list."),
        ("amplification", "module", {"a": 1}, "module must be a text; got an object."),
        ("swap_runs", "runs", 5.5, "runs must be a list, or a text with commas; got 5.5."),
        ("sweep_ranks", "ranks", True, "ranks must be a list, or a text with commas; got True."),
        ("ablate_heads", "everywhere", ["a"], "everywhere must be true or false; got a list."),
        ("placement", "module", 5.5, "5.5"),
    ],
)
def test_the_sentence_names_the_parameter(name: str, parameter: str, value: Any, said: str) -> None:
    action = next(one for one in ACTIONS if one.name == name)
    with pytest.raises(BadInputError) as raised:
        action.params(**{**standard(action), parameter: value})
    assert said in str(raised.value)
