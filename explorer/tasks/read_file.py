"""Turns a visitor's file into text, or says in one sentence why it cannot: too large, not text, not UTF-8, empty."""

from __future__ import annotations

import re
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
