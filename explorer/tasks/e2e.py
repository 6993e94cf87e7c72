"""Meanings to be put into words, in the manner of the E2E NLG Challenge (Novikova et al. 2017): slots, and what says them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from explorer.errors import BadInputError
from explorer.settings import BUNDLED_E2E
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.splitting import hold_out, mixed
from explorer.tasks.task import WRITTEN, Example, Task, TaskData

SLOTS = ("name", "Type", "food", "price", "customer rating", "area", "family friendly", "near")
"""In the order in which a meaning names them."""

ASKS = " ||"
"""Stands between a meaning and its text when a model reads them, as in LoRA's copy of E2E."""

E2E = Task(
    "e2e",
    "E2E-like, bundled · restaurants",
    "How is this meaning put into words?",
    ("meaning",),
    (),
    METRICS,
    "Meanings and texts written for this app, after Novikova, Dušek and Rieser 2017, The E2E Dataset: New Challenges For "
    "End-to-End Generation.",
    WRITTEN,
)


@dataclass(frozen=True)
class Meaning:
    """slots: (slot, value) in SLOTS' order. references: texts that say it."""

    slots: tuple[tuple[str, str], ...]
    references: tuple[str, ...]

    @property
    def text(self) -> str:
        """As a model reads it: `name : Bar Olmo | food : Italian`."""
        return spelled(self.slots)


def parse_meaning(text: str) -> tuple[tuple[str, str], ...]:
    """The slots of a meaning that a visitor wrote, `name : Bar Olmo | food : Italian`, in SLOTS' order.

    Raises BadInputError for a part without a colon, an unknown slot, one that comes twice, and a meaning without a slot.
    """
    known = {slot.casefold(): slot for slot in SLOTS}
    found: dict[str, str] = {}
    for part in filter(str.strip, text.split("|")):
        name, colon, value = (piece.strip() for piece in part.partition(":"))
        slot = known.get(name.casefold())
        if not colon or not value or slot is None:
            raise BadInputError(
                f"“{part.strip()[:60]}” is no slot with its value. Write name : Bar Olmo | food : Italian, with slots out of "
                f"{', '.join(SLOTS)}."
            )
        if slot in found:
            raise BadInputError(f"The slot {slot} comes twice. Leave one of them out.")
        found[slot] = " ".join(value.split())
    if not found:
        raise BadInputError(f"The meaning is empty. Fill in at least one slot, such as {SLOTS[0]}.")
    return tuple((slot, found[slot]) for slot in SLOTS if slot in found)


def spelled(slots: Sequence[tuple[str, str]]) -> str:
    """As a model reads them: `name : Bar Olmo | food : Italian`."""
    return " | ".join(f"{slot} : {value}" for slot, value in slots)


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


def bundled_e2e() -> TaskData:
    """The bundled meanings as a task; a fifth of them is held out."""
    train, held = hold_out(tuple(as_example(one) for one in restaurants()), False, "restaurants.tsv")
    return TaskData(E2E, E2E.slug, mixed(train), {"validation": mixed(held)})


def as_example(meaning: Meaning) -> Example:
    """A meaning with its references."""
    return Example(meaning.text, None, 0.0, meaning.references)
