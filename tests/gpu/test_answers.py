"""Every action that computes says on a GPU what it says on the processor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from explorer.shell import build_app
from tests.gpu.conftest import On
from tests.ui.test_endpoint_defaults import ACTIONS, NAMED_BY_THE_VISITOR, NEEDS_A_PRUNED_MODEL, TIMED, TRAIN

SAME = 1e-3

TAKEN_HOME = ("export_run", "pretrained_model", "merge_check", "runs", "follow_run", "attention_view")
"""Files, lists and documents, or what is measured anew each time."""

MEASURED = ("seconds", "milliseconds", "made", "speed", "times", "memory", "bytes")
"""Fields of time and room, which are each device's own."""

ASKED = sorted(set(ACTIONS) - {*TRAIN, *NAMED_BY_THE_VISITOR, NEEDS_A_PRUNED_MODEL, TIMED, *TAKEN_HOME})


def differences(one: Any, other: Any, at: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Where two results differ by more than SAME, and by what."""
    if isinstance(one, float) and isinstance(other, (float, int)):
        if not (math.isclose(one, other, abs_tol=SAME, rel_tol=SAME) or (math.isnan(one) and math.isnan(other))):
            yield at, one, other
    elif is_dataclass(one) and type(one) is type(other):
        for field in fields(one):
            if not field.name.endswith(MEASURED):
                yield from differences(getattr(one, field.name), getattr(other, field.name), f"{at}.{field.name}")
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        yield from differences(sorted(one.items()), sorted(other.items()), at)
    elif isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        if len(one) != len(other):
            yield f"{at}#", len(one), len(other)
        for number, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from differences(left, right, f"{at}[{number}]")
    elif one != other:
        yield at, one, other


@pytest.fixture(scope="module")
def defaults(cpu: On) -> dict[str, dict[str, Any]]:
    """What the pages open with, by action and parameter."""
    app = build_app(cpu.engine)
    app.config = app.get_config_file()
    ends = app.get_api_info()["named_endpoints"]
    return {
        name.removeprefix("/"): {
            one["parameter_name"]: one["parameter_default"]
            for one in end["parameters"]
            if one["parameter_has_default"] and one["parameter_name"] != "visitor"
        }
        for name, end in ends.items()
    }


@pytest.mark.parametrize("action", ASKED)
def test_it_says_the_same(action: str, gpu: On, cpu: On, defaults: dict[str, dict[str, Any]]) -> None:
    given = defaults[action]
    assert list(differences(cpu.run(action, **given), gpu.run(action, **given)))[:5] == []


@pytest.mark.parametrize("texts", [1, 16, 64])
def test_texts_that_wait_together_are_answered_as_alone(texts: int, gpu: On, cpu: On) -> None:
    from explorer.labs.masking import FILL_MASKS
    from explorer.labs.masking.schema import FillParams

    asked = [
        FillParams(f"The {'very ' * (number % 4)}old ship was [MASK] in {1900 + number}.") for number in range(texts)
    ]
    waiting = [gpu.engine.follow(FILL_MASKS.job, params, "bert-mini") for params in asked]
    together = [one.last.result() for one in waiting]
    alone = [cpu.engine.follow(FILL_MASKS.job, params, "bert-mini").last.result() for params in asked]
    assert list(differences(alone, together))[:5] == []
