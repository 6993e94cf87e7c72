"""The formats that a visitor's file may have, a module each: whether it is recognised, how it is read, and what is held out."""

from __future__ import annotations

from typing import Protocol

from explorer.tasks.formats import e2e, glue, squad, table, text
from explorer.tasks.formats.given import Content, Given
from explorer.tasks.splitting import Parts


class Format(Protocol):
    """What each of these modules offers."""

    def recognises(self, text: str, /) -> bool:
        """Whether a file's text looks like this format."""

    def read(self, given: Given, /) -> Content:
        """What the files hold. Raises BadInputError with the line, what is wrong with it and what to do."""

    def hold_out(self, content: Content, name: str, /) -> Parts:
        """Training and validation of one file. Raises BadInputError where there are too few different texts."""


FORMATS: tuple[Format, ...] = (squad, e2e, glue, table)
"""In the order in which they are asked; the last takes any table. A plain text is only read as one where it is called so."""


def format_of(given: Given) -> Format:
    """The format that the visitor named, or the first that recognises the file."""
    if given.task is not None:
        return text if given.task == text.TEXT.slug else glue
    return next(format for format in FORMATS if format.recognises(given.text))
