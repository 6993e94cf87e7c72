"""What is asked for is brought to one form, or refused in a sentence that names the way out."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.attribution.methods import METHODS
from explorer.labs.attribution.params import AttributeParams, AttributeRunParams
from tests.rows import each_row


def asked(**changes: Any) -> AttributeParams:
    return AttributeParams(**{"model": "bert-small", "text": "A [MASK].", **changes})


def test_however_methods_are_named_they_are_the_same() -> None:
    assert asked().method == ("integrated_gradients",)
    assert asked(method="occlusion").method == ("occlusion",)
    assert asked(method=["occlusion", "saliency", "occlusion"]).method == ("saliency", "occlusion")
    assert asked(method=["saliency", "occlusion"]) == asked(method=("occlusion", "saliency"))
    assert asked(method=[method.slug for method in METHODS[:3]] + ["rollout"]).method[-1] == "rollout"


def test_what_a_page_or_a_client_sends_becomes_one_form() -> None:
    params = asked(second=None, position="", steps=None, target="  paris ")
    assert (params.second, params.position, params.steps, params.target) == ("", None, 0, "paris")
    assert asked(position="6").position == 6
    assert asked(position=6.0).position == 6
    assert asked(steps=50.0).steps == 50
    assert AttributeRunParams("r", "good", None).sentence_b == ""  # type: ignore[arg-type]


@each_row(
    ("changes", "says"),
    [
        ({"text": " "}, "Type a sentence"),
        ({"text": 3}, "Type a sentence"),
        ({"text": "a" * 20_001}, "characters"),
        ({"second": 3}, "second takes a text"),
        ({"second": "b" * 20_001}, "characters"),
        ({"target": "x" * 61}, "at most 60"),
        ({"target": 3}, "one word or one class"),
        ({"method": "lime"}, "no method 'lime'"),
        ({"method": []}, "Choose a method"),
        ({"method": None}, "Choose a method"),
        ({"method": [["saliency"]]}, "no method"),
        ({"method": [method.slug for method in METHODS[:4]]}, "At most 3"),
        ({"baseline": "noise"}, "auto, mask, pad, zero"),
        ({"baseline": None}, "auto, mask, pad, zero"),
        ({"by": "letters"}, "tokens, words"),
        ({"steps": -1}, "whole number"),
        ({"steps": 100_000}, "whole number"),
        ({"steps": "many"}, "whole number"),
        ({"position": "first"}, "whole number"),
        ({"position": -1}, "whole number"),
    ],
)
def test_the_rest_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInputError, match=says):
        asked(**changes)


@pytest.mark.parametrize("run", ["", None, 3])
def test_a_run_must_be_named(run: Any) -> None:
    with pytest.raises(BadInputError, match="Choose a run"):
        AttributeRunParams(run, "good")
