"""Which runs answer a question about distillation together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from explorer.errors import BadInputError
from explorer.tuning.spec import RunSpec
from explorer.tuning.students import WEIGHTS, ablated, labels_only

SPEC = RunSpec("m", method="distill", teacher="r0", soft_weight=5, hard_weight=2, cosine_weight=1)


def weights(spec: RunSpec) -> tuple[float, float, float]:
    return (spec.soft_weight, spec.hard_weight, spec.cosine_weight)


def test_each_line_changes_one_thing() -> None:
    lines = {line.slug: line for line in ablated(SPEC)}
    assert list(lines) == ["all", "no-soft", "no-cosine", "no-hard", "random"]
    assert weights(lines["all"].spec) == WEIGHTS
    for slug, place in (("no-soft", 0), ("no-hard", 1), ("no-cosine", 2)):
        expected = [0.0 if number == place else weight for number, weight in enumerate(WEIGHTS)]
        assert list(weights(lines[slug].spec)) == expected
    assert lines["random"].spec == replace(SPEC, start="random")
    assert {line.spec.seed for line in lines.values()} == {SPEC.seed}


def test_distilberts_own_changes_stand_beside_them() -> None:
    """Sanh et al. 2019, Table 4."""
    changes = {line.slug: line.change for line in ablated(SPEC)}
    assert changes == {"all": None, "no-soft": -2.96, "no-cosine": -1.46, "no-hard": -0.31, "random": -3.69}


@pytest.mark.parametrize("name", ["soft_weight", "hard_weight", "cosine_weight"])
def test_a_term_that_is_not_there_cannot_be_left_out(name: str) -> None:
    with pytest.raises(BadInputError, match="all three need a weight"):
        ablated(replace(SPEC, **{name: 0.0}))  # type: ignore[arg-type]


def test_labels_only_leaves_everything_else() -> None:
    alone = labels_only(SPEC)
    assert weights(alone) == (0.0, 1.0, 0.0)
    assert replace(alone, soft_weight=5.0, hard_weight=2.0, cosine_weight=1.0) == SPEC
    assert labels_only(alone) == alone
