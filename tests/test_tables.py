"""The table behind a figure, as text."""

from __future__ import annotations

import csv
import io
import json
from types import SimpleNamespace

import pytest

from explorer.tables import Table, short


def test_columns_are_aligned_and_lines_end_without_spaces() -> None:
    table = Table.of(["token", "probability"], [["a", 0.5], ["longer", 0.25]])
    assert str(table) == "token   probability\na       0.5\nlonger  0.25"


def test_numbers_have_six_significant_digits_and_whole_numbers_all_of_theirs() -> None:
    table = Table.of(["x"], [[1 / 3], [1e-9 / 3], [123456789], [2.0], [float("nan")]])
    assert str(table).splitlines() == ["x", "0.333333", "3.33333e-10", "123456789", "2", "nan"]


def test_none_is_empty() -> None:
    assert str(Table.of(["a", "b"], [[None, 1], [2, None]])) == "a  b\n   1\n2"


def test_a_token_that_is_a_line_break_keeps_its_row_on_one_line() -> None:
    shown = str(Table.of(["token", "n"], [["\n", 1], ["a\tb", 2], ["\x1b[31m", 3], ["ü東", 4]]))
    assert shown.splitlines()[1:] == ["\\n        1", "a\\tb      2", "\\x1b[31m  3", "ü東        4"]


def test_a_table_without_rows_shows_its_columns() -> None:
    assert str(Table.of(["position", "token"], [])) == "position  token"


def test_any_sequences_become_tuples() -> None:
    table = Table.of(["a"], [[1], (2,)])
    assert table == Table(("a",), ((1,), (2,)))
    assert hash(table) == hash(Table(("a",), ((1,), (2,))))


def test_a_page_shows_four_significant_digits_and_whole_numbers_whole() -> None:
    cells = (0.13002592325210570, 1.23456789e-7, 66405702, 66405702.4, 12.0, 999.96, None, "0.12345678", float("nan"))
    assert [short(cell) for cell in cells] == [
        *("0.13", "1.235e-07", "66405702", "66405702", "12", "1000", "", "0.12345678", "nan"),
    ]


def test_a_table_of_items_has_a_column_for_each_question() -> None:
    table = Table.each(["a", "bcd"], text=str, letters=len)
    assert table == Table(("text", "letters"), (("a", 1), ("bcd", 3)))
    assert Table.each([], text=str).columns == ("text",), "without items it still says what they would be asked"


@pytest.mark.parametrize("width", [14, 30, 200])
def test_a_table_is_cut_to_a_terminal_where_it_has_to_be(width: int) -> None:
    table = Table.of(["position", "sentence", "n"], [[1, "a long one, longer than all others", 2], [2, "short", None]])
    lines = table.fitted(width).splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 3
    assert (table.fitted(width) == str(table)) == (width == 200)
    assert ("…" in table.fitted(width)) == (width < 200)


def test_csv_and_json_hold_the_cells_in_full() -> None:
    table = Table.of(["token", "p"], [['a,"b"\n', 1 / 3], ["ü", None], ["x", float("nan")]])
    assert list(csv.reader(io.StringIO(table.as_csv()))) == [
        ["token", "p"],
        ['a,"b"\n', str(1 / 3)],
        ["ü", ""],
        ["x", "nan"],
    ]
    assert json.loads(table.as_json()) == [
        {"token": 'a,"b"\n', "p": 1 / 3},
        {"token": "ü", "p": None},
        {"token": "x", "p": None},
    ]


def test_columns_are_read_from_attributes_by_name_by_path_or_by_a_function() -> None:
    items = [SimpleNamespace(name="a", count=3, at=SimpleNamespace(row=1))]
    table = Table.each(items, "name count", line="at.row", twice=lambda item: 2 * item.count)
    assert table == Table(("name", "count", "line", "twice"), (("a", 3, 1, 6),))


def test_the_largest_rows_of_a_long_table_stay_the_largest_first() -> None:
    table = Table.of(["name", "size"], [["a", 1.0], ["b", 3.0], ["c", None], ["d", 2.0]])
    assert table.largest(1, 4) is table
    assert [row[0] for row in table.largest(-1, 2).rows] == ["b", "d"]
