"""What Python's search for garbage leaves out, and that it goes on."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from explorer import memory


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    frozen = gc.get_freeze_count()
    yield
    if not frozen:
        gc.unfreeze()


def test_nothing_is_searched_within_and_what_stands_at_the_end_is_left_out() -> None:
    with memory.no_search():
        assert not gc.isenabled()
        kept = [[number] for number in range(100)]
    assert gc.isenabled()
    assert not any(one is kept for one in gc.get_objects()), "what is left out is not among what is searched"


def test_the_search_goes_on_after_an_error() -> None:
    with pytest.raises(ValueError, match="broken"), memory.no_search():
        raise ValueError("broken")
    assert gc.isenabled()


def test_imports_are_left_out_once_and_what_is_let_go_later_is_found() -> None:
    memory.leave_imports_out.cache_clear()
    memory.leave_imports_out()
    before = gc.get_freeze_count()
    circle: list[object] = []
    circle.append(circle)
    memory.leave_imports_out()
    assert gc.get_freeze_count() <= before, "a model that stands by then could never be found again"
    del circle
    assert gc.collect() > 0
