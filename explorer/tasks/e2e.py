"""Meanings to be put into words, in the manner of the E2E NLG Challenge (Novikova et al. 2017): slots, and what says them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from explorer.settings import BUNDLED_E2E

SLOTS = ("name", "Type", "food", "price", "customer rating", "area", "family friendly", "near")
"""In the order in which a meaning names them."""


@dataclass(frozen=True)
class Meaning:
    """slots: (slot, value) in SLOTS' order. references: texts that say it."""

    slots: tuple[tuple[str, str], ...]
    references: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a model reads it: `name : Bar Olmo | food : Italian`."""
        return " | ".join(f"{slot} : {value}" for slot, value in self.slots)


def read_meaning(line: str) -> Meaning:
    """One line of the bundled file."""
    meaning, *references = line.split("\t")
    slots = [tuple(part.split(" : ", 1)) for part in meaning.split(" | ")]
    return Meaning(tuple((slot, value) for slot, value in slots), tuple(references))


@cache
def restaurants() -> tuple[Meaning, ...]:
    """The bundled meanings."""
    lines = (BUNDLED_E2E / "restaurants.tsv").read_text(encoding="utf-8").splitlines()
    return tuple(read_meaning(line) for line in lines)
