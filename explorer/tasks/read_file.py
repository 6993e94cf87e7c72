"""Turns a visitor's file into text, and a table of it (CSV, TSV or JSON lines) into rows with the line that each begins on; or
says in one sentence why it cannot: too large, not text, not UTF-8, empty. What the columns mean is decided later.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from explorer.errors import BadInputError
from explorer.text import LONGEST_TEXT

LARGEST_FILE_BYTES = 50 * 2**20
"""Bytes that a file may have: SQuAD's larger training file has 42 MB."""

MOST_EXAMPLES = 500_000
"""Examples that a file may have: more than the largest task of GLUE has. Short rows take far more memory than they take
bytes.
"""

_OTHER_KINDS = (
    (b"PK\x03\x04", "an Excel workbook or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PAR1", "a parquet file"),
    (b"%PDF", "a PDF"),
    (b"\xff\xfe", "text in UTF-16"),
    (b"\xfe\xff", "text in UTF-16"),
)
_SAVE = "Save the table as CSV in UTF-8 and upload that."
_HOLDS = "It should hold a line with the columns' names, then a line an example."
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Place:
    """A line of a named file, counted from 1, for sentences that a visitor reads."""

    name: str
    line: int

    def wrong(self, what: str, fix: str) -> BadInputError:
        """Return the error for this line."""
        return BadInputError(f"{self.name}, line {self.line:,}: {what}. {fix}")


def short_name(name: str, most: int = 60) -> str:
    """Return a file's or a column's name in one short line."""
    cleaned = without_control(name).strip()
    return cleaned if len(cleaned) <= most else f"{cleaned[: most - 1]}…"


def without_control(text: str) -> str:
    """Replace each control character by one space, so that the others keep their positions."""
    return _CONTROL.sub(" ", text)


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes. Raises BadInputError if it is missing or larger than this page takes."""
    name = short_name(path.name)
    try:
        size = path.stat().st_size
        if size <= LARGEST_FILE_BYTES:
            return path.read_bytes()
    except OSError as error:
        raise BadInputError(f"{name} could not be read. Upload it again.") from error
    raise BadInputError(
        f"{name} has {size / 2**20:.0f} MB, and a file here has at most {LARGEST_FILE_BYTES // 2**20} MB. Upload a part "
        "of its lines; GLUE's own large tasks can be had from the hub, in the list of tasks."
    )


def decode(data: bytes, name: str, fix: str = _SAVE, holds: str = _HOLDS) -> str:
    """Return the text of a file, without a byte-order mark. Raises BadInputError if it is not text, or empty.

    fix: what to do about another kind of file. holds: what it should hold.
    """
    name = short_name(name)
    for start, kind in _OTHER_KINDS:
        if data.startswith(start):
            raise BadInputError(f"{name} is {kind}, not a text file. {fix}")
    if b"\0" in data:
        raise Place(name, _line(data, data.index(b"\0"))).wrong("a null byte, so this is not a text file", fix)
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        within = error.start - data.rfind(b"\n", 0, error.start)
        raise Place(name, _line(data, error.start)).wrong(
            f"byte {within:,} of the line (0x{data[error.start]:02x}) is not UTF-8", fix
        ) from error
    if not text.strip():
        raise BadInputError(f"{name} is empty. {holds}")
    return text


def checked_example(text: str, place: Place, column: str) -> str:
    """Return one text of an example on one line. Raises BadInputError if it is empty or longer than a page takes."""
    if len(text) > LONGEST_TEXT:
        raise place.wrong(
            f"a text of {len(text):,} characters; the longest taken has {LONGEST_TEXT:,}",
            "Shorten it: no model here reads more than its first few thousand.",
        )
    cleaned = without_control(text).strip()
    if not cleaned:
        raise place.wrong(f"nothing in the column {short_name(column)}", "Write a text there, or take the line out.")
    return cleaned


def check_count(count: int, name: str) -> None:
    """Raise BadInputError beyond MOST_EXAMPLES; called while a file is read."""
    if count > MOST_EXAMPLES:
        raise BadInputError(f"{name} has more than {MOST_EXAMPLES:,} examples. Upload a part of its lines.")


def _line(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


DELIMITERS = ("\t", ",", ";", "|")
MOST_COLUMNS = 50


@dataclass(frozen=True)
class Row:
    """One row: the file's line that it begins on, from 1, and a cell for each column."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """A table of text. header: the columns' names, some of which may be empty. name: the file's, for sentences."""

    name: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, place: int) -> list[str]:
        """Return one column's cells."""
        return [row.cells[place] for row in self.rows]


def read_grid(text: str, name: str) -> Grid:
    """Read a file in the format that it seems to have. Raises BadInputError with the line if it is broken."""
    if text.lstrip()[:1] in ("{", "["):
        return _read_json_lines(text, name)
    delimiter = _find_delimiter(text, name)
    records: list[Row] = []
    if delimiter == "\t":  # a double quote is a character like any other there, except around a whole well-quoted cell
        literal = _records(text, delimiter, name, quotes=False)
        records = [Row(row.line, tuple(map(_unquoted, row.cells))) for row in literal]
    if len({len(row.cells) for row in records}) != 1:  # a row is uneven, so a quote did hide a tab or a line break
        records = list(_records(text, delimiter, name))
    header = tuple(cell.strip() for cell in records[0].cells)
    _check_header(header, Place(name, records[0].line))
    for row in records[1:]:
        if len(row.cells) != len(header):
            raise Place(name, row.line).wrong(
                f"{len(row.cells)} columns, where the first line names {len(header)}",
                "Put a text that holds a comma or a line break in double quotes, or mend the row.",
            )
    return Grid(name, header, tuple(records[1:]))


def _find_delimiter(text: str, name: str) -> str:
    """Return the character that splits the first line into most columns. Raises BadInputError if none splits it."""
    widths = {delimiter: _first_width(text, delimiter) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=widths.__getitem__)
    if widths[best] < 2:
        raise BadInputError(
            f"{name}, line 1: only one column. The first line should name at least a column of text and one of labels, "
            "such as text,label, parted by commas, semicolons or tabs."
        )
    return best


def _first_width(text: str, delimiter: str) -> int:
    if delimiter not in text:
        return 1
    try:
        return next((len(cells) for cells in csv.reader(_lines(text), delimiter=delimiter) if any(cells)), 0)
    except csv.Error:
        return 0


def _records(text: str, delimiter: str, name: str, quotes: bool = True) -> Iterator[Row]:
    """Yield rows as the csv module reads them: in double quotes a text may hold the delimiter, line breaks and doubled
    quotes.
    """
    # pandas would not do: its C parser fills a short row up with empty cells and lets a quoted text go on after its
    # quote, and the line that it names counts rows.
    reader = csv.reader(
        _lines(text), delimiter=delimiter, strict=True, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE
    )
    count, start = 0, 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                count += 1
                check_count(count - 1, name)
                yield Row(start, tuple(cells))
            start = reader.line_num + 1  # a quoted text may span lines, so the next row begins after the last line read
    except csv.Error as error:
        if "field limit" in str(error):
            raise Place(name, start).wrong(
                f"a text of more than {csv.field_size_limit():,} characters in the row that begins here",
                "Shorten it, or close the double quote that opens it.",
            ) from error
        raise Place(name, start).wrong(
            f"the double quotes of the row that begins here do not match ({error})",
            "Each opening quote needs a closing one, and a quote inside a quoted text is written twice.",
        ) from error


def _unquoted(cell: str) -> str:
    inside = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if quoted else cell


def _read_json_lines(text: str, name: str) -> Grid:
    """Read one object a line; the columns are all keys that hold a text, a number, true or false somewhere."""
    rows: list[tuple[int, dict[str, str]]] = []
    header: dict[str, None] = {}
    for number, line in enumerate(_lines(text), 1):
        if line.strip():
            check_count(len(rows) + 1, name)
            rows.append((number, _plain(line, Place(name, number))))
            header.update(dict.fromkeys(rows[-1][1]))
            if len(header) > MOST_COLUMNS:
                raise Place(name, number).wrong(f"more than {MOST_COLUMNS} different keys", "Keep those that you need.")
    names = tuple(header)
    _check_header(tuple(key.strip() for key in names), Place(name, rows[0][0]))
    table = tuple(Row(number, tuple(row.get(key, "") for key in names)) for number, row in rows)
    return Grid(name, tuple(key.strip() for key in names), table)


def _plain(line: str, place: Place) -> dict[str, str]:
    """Return a line's keys with their values as text; lists, objects and null are left out. Raises BadInputError."""
    fix = 'Write one object a line, such as {"text": "It rained.", "label": "weather"}.'
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise place.wrong(f"not JSON ({_reason(error)})", fix) from error
    if not isinstance(values, dict):
        raise place.wrong("JSON, but not an object", fix)
    return {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
        if isinstance(value, (str, int, float))
    }


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.colno}"
    return "a number or a nesting that is too large"


def _check_header(header: tuple[str, ...], place: Place) -> None:
    if len(header) > MOST_COLUMNS:
        raise place.wrong(f"{len(header)} columns; at most {MOST_COLUMNS} are read", "Keep those that you need.")
    if len(header) < 2:
        raise place.wrong("only one column", "A table needs at least a column of text and one of labels.")
    twice = [name for name in header if name and header.count(name) > 1]
    if twice:
        raise place.wrong(f"two columns are called {short_name(twice[0])}", "Give each column a name of its own.")


def _lines(text: str) -> io.StringIO:
    """Return the text's lines: \\n, \\r\\n or \\r ends one, and stays with it."""
    return io.StringIO(text, newline="")
