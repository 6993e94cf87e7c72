"""Bad input is refused in a sentence that names the fix."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.labs.pruning.params import (
    Asking,
    ExportParams,
    HandParams,
    ImportanceParams,
    OrdersParams,
    PruneParams,
    QuantiseParams,
    StepsParams,
)
from tests.rows import each_row


@each_row(
    ("kind", "given", "hint"),
    [
        (Asking, {"examples": 0}, "examples must be a whole number from 1"),
        (Asking, {"held_out": 0}, "held_out must be a whole number from 1"),
        (Asking, {"loss": "guess"}, "labels, soft"),
        (Asking, {"run": 3}, "run must be a text"),
        (ImportanceParams, {"unit": "toe"}, "head, neuron, both, layer, weight"),
        (ImportanceParams, {"unit": "both"}, "one kind"),
        (ImportanceParams, {"score": "luck"}, "gradient, normalised, magnitude, movement"),
        (ImportanceParams, {"unit": "head", "score": "magnitude"}, "takes gradient, normalised"),
        (ImportanceParams, {"unit": "weight", "score": "normalised"}, "takes gradient, magnitude, movement"),
        (OrdersParams, {"draws": 11}, "draws must be a whole number"),
        (PruneParams, {"share": 0}, "nothing would be taken away"),
        (PruneParams, {"share": 1}, "nothing would be left"),
        (PruneParams, {"share": 1.2}, "above 0 and below 1"),
        (PruneParams, {"share": -0.5}, "above 0 and below 1"),
        (PruneParams, {"share": "half"}, "above 0 and below 1"),
        (PruneParams, {"share": float("nan")}, "above 0 and below 1"),
        (PruneParams, {"order": "middle"}, "least, most, random"),
        (PruneParams, {"steps": 0}, "steps must be a whole number from 1"),
        (PruneParams, {"unit": "layer", "heads": 3}, "A budget is of heads and neurons"),
        (StepsParams, {"steps": 1}, "steps must be a whole number from 2"),
        (QuantiseParams, {"share": 1}, "nothing would be left"),
        (QuantiseParams, {"batch": 65}, "batch must be a whole number from 1 to 64"),
        (HandParams, {"heads": "0"}, "pairs of layer and head"),
        (HandParams, {"heads": [[0, "one"]]}, "head must be a whole number"),
        (HandParams, {"heads": 7}, "pairs of layer and head"),
        (ExportParams, {"key": ""}, "Prune first"),
        (ExportParams, {"key": "../../etc/passwd"}, "Prune first"),
    ],
)
def test_refusals(kind: Any, given: dict[str, Any], hint: str) -> None:
    with pytest.raises(BadInputError, match=hint):
        kind(**given)


def test_what_clients_send_is_understood() -> None:
    assert PruneParams(share="0.25", steps=2.0).share == 0.25  # type: ignore[arg-type]
    assert QuantiseParams(share=0).share == 0.0
    assert Asking(run=None, task=None).run == ""  # type: ignore[arg-type]
    assert HandParams(heads="2.11, 0.3,0.3").heads == ((0, 3), (2, 11))  # type: ignore[arg-type]
    assert HandParams(heads=[[0, 3]]).heads == ((0, 3),)  # type: ignore[arg-type]
    assert HandParams(heads=None).heads == ()  # type: ignore[arg-type]
    assert hash(PruneParams()) == hash(PruneParams())
