"""What the glossary holds of a word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A word with its explanation. word: as a page spells it, in any case unless `exact` is set. pages: the labs that
    mean this by it; empty for all. also: its other forms, such as the plural.
    """

    word: str
    says: str
    pages: tuple[str, ...] = ()
    exact: bool = False
    also: tuple[str, ...] = ()
