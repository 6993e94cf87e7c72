"""What a run may be asked to do, and what it is told where it cannot."""

from __future__ import annotations

import math
from typing import Any

import pytest

from explorer.errors import BadInputError
from explorer.tuning.spec import RunSpec
from tests.rows import each_row

BAD: tuple[tuple[str, Any], ...] = (
    ("learning_rate", 0),
    ("learning_rate", -1e-4),
    ("learning_rate", math.nan),
    ("learning_rate", math.inf),
    ("learning_rate", 1e6 + 1),
    ("learning_rate", "quick"),
    ("learning_rate", [1e-4]),
    ("learning_rate", 10**400),
    ("rank", 0),
    ("rank", -3),
    ("rank", 2.5),
    ("rank", math.nan),
    ("rank", "eight"),
    ("rank", None),
    ("rank", 10**400),
    ("rank", 4097),
    ("alpha", 0),
    ("alpha", "x"),
    ("dropout", 1),
    ("dropout", -0.1),
    ("epochs", 0),
    ("epochs", 201),
    ("batch_size", 0),
    ("batch_size", 513),
    ("examples", -1),
    ("seed", -1),
    ("seed", 2**31),
    ("prefix_length", 0),
    ("bottleneck", 0),
    ("targets", ()),
    ("targets", ""),
    ("targets", 5),
    ("targets", ("query", "banana")),
    ("targets", [None]),
    ("variant", "qlora"),
    ("variant", ["lora"]),
    ("method", ["lora"]),
    ("task", 7),
    ("model", None),
    ("temperature", 0),
    ("temperature", -2),
    ("temperature", math.nan),
    ("temperature", 1001),
    ("temperature", "hot"),
    ("soft_weight", -1),
    ("hard_weight", math.nan),
    ("cosine_weight", math.inf),
    ("student_layers", -1),
    ("student_layers", 1.5),
    ("start", "scratch"),
    ("soft_loss", "mse"),
    ("teacher", None),
)


@each_row(("name", "value"), BAD, ids=[f"{name}={str(value)[:12]}" for name, value in BAD])
def test_a_setting_out_of_range_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(BadInputError, match=name):
        RunSpec(**{"model": "m", name: value})


def test_the_ends_of_the_ranges_are_taken() -> None:
    assert RunSpec("m", rank=1, learning_rate=1e6, dropout=0, examples=0, seed=2**31 - 1, epochs=200, batch_size=512)
    assert RunSpec("m", learning_rate=5e-324)


def test_what_json_and_forms_send_is_brought_to_its_type() -> None:
    spec = RunSpec("m", rank=8.0, epochs="2", targets="query, value", learning_rate="1e-3", alpha=16)  # type: ignore[arg-type]
    assert spec == RunSpec("m", rank=8, epochs=2, targets=("query", "value"), learning_rate=1e-3, alpha=16.0)
    assert isinstance(spec.rank, int)
    assert isinstance(spec.alpha, float)
    assert RunSpec("m", targets=["query", "value"]) == RunSpec("m")  # type: ignore[arg-type]


def test_no_learning_rate_is_the_methods_own() -> None:
    assert RunSpec("m").learning_rate is None


def test_a_students_loss_needs_one_term() -> None:
    with pytest.raises(BadInputError, match="one term of the loss must be left"):
        RunSpec("m", soft_weight=0, hard_weight=0, cosine_weight=0)
    assert RunSpec("m", soft_weight=0, hard_weight=0, cosine_weight=1).cosine_weight == 1.0
