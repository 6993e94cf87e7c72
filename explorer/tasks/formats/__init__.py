"""The formats that a visitor's file may have, one module each: how it is recognised, how it is read, and what is held out."""

from __future__ import annotations

from typing import Protocol

from explorer.tasks.formats import e2e, glue, squad, table, text
from explorer.tasks.given import Content, Given, Parts


class Format(Protocol):
    """The functions of each of these modules."""

    def recognises(self, text: str, /) -> bool:
        """Return whether a file's text looks like this format."""

    def read(self, given: Given, /) -> Content:
        """Return what the files hold. Raises BadInputError with the line, what is wrong with it and what to do."""

    def hold_out(self, content: Content, name: str, /) -> Parts:
        """Split one file into training and validation. Raises BadInputError if there are too few different texts."""


FORMATS: tuple[Format, ...] = (squad, e2e, glue, table)
"""The formats in the order in which they are tried; the last takes any table. A plain text is read as one only if the
visitor says so.
"""


def format_of(given: Given) -> Format:
    """Return the format that the visitor named, or the first that recognises the file."""
    if given.task is not None:
        return text if given.task == text.TEXT.slug else glue
    return next(format for format in FORMATS if format.recognises(given.text))
