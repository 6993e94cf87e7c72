"""A test over a table says which of its rows failed, and tries them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rows import each_row


def odd(tried: list[int], number: int) -> None:
    tried.append(number)
    assert number % 2, number


def test_one_row_that_fails_is_named_and_the_others_are_tried() -> None:
    tried: list[int] = []
    with pytest.raises(AssertionError) as raised:
        each_row("number", [1, 2, 3])(odd)(tried=tried)
    assert raised.value.__notes__ == ["in the row 2 of number"]
    assert tried == [1, 2, 3]


def test_several_that_fail_are_all_named() -> None:
    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as raised:
        each_row("number", [2, 3, 4], ids=["two", "three", "four"])(odd)(tried=[])
    assert [one.__notes__ for one in raised.value.exceptions] == [
        [f"in the row {name} of number"] for name in ("two", "four")
    ]


def test_what_pytest_raises_counts() -> None:
    def refuses(number: int) -> None:
        with pytest.raises(ValueError, match="no"):
            int(str(number))

    with pytest.raises(AssertionError, match="DID NOT RAISE") as raised:
        each_row("number", [7])(refuses)()
    assert raised.value.__notes__ == ["in the row 7 of number"]


def test_skipping_some_rows_skips_no_test() -> None:
    def small(number: int) -> None:
        if number > 1:
            pytest.skip("too large")

    each_row("number", [1, 2])(small)()
    with pytest.raises(pytest.skip.Exception, match="too large"):
        each_row("number", [2, 3])(small)()


def test_rows_with_names_of_their_own_are_named_by_them() -> None:
    with pytest.raises(AssertionError) as raised:
        each_row("number", [pytest.param(2, id="two"), 3])(odd)(tried=[])
    assert raised.value.__notes__ == ["in the row two of number"]
    with pytest.raises(AssertionError, match="a case of its own"):
        each_row("number", [pytest.param(2, marks=pytest.mark.gpu)])


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        each_row("number", [])(odd)


@each_row("name, size", [("a", 1), ("b", 2)])
def test_each_row_has_a_folder_of_its_own(name: str, size: int, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text(name * size, encoding="utf-8")


class TestClass:
    @each_row("number", [1, 3])
    @each_row("other", [1, 5])
    def test_tables_are_multiplied(self, number: int, other: int) -> None:
        assert number * other % 2
