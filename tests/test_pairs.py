"""The pairs that are tried each time leave out no method and no family."""

from __future__ import annotations

from collections import Counter

from explorer.models.families import ARCHITECTURES
from tests.pairs import DIFFERENT, covering
from tests.rows import each_row


@each_row("count", [2, 5, 9, 12])
def test_each_method_meets_what_differs_and_each_family_two_methods(count: int) -> None:
    methods = [f"method {number}" for number in range(count)]
    pairs = covering(methods, everything=False)
    families = Counter(architecture.family for _, architecture in pairs)
    assert set(families) == {architecture.family for architecture in ARCHITECTURES}
    assert min(families.values()) >= 2
    for method in methods:
        assert set(DIFFERENT) <= {architecture.family for one, architecture in pairs if one == method}
    assert len(covering(methods, everything=True)) == count * len(ARCHITECTURES)
