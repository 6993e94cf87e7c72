"""Meanings to be put into words, in the format of the E2E NLG Challenge (Novikova et al. 2017): slots, and texts that
express them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from explorer.errors import BadInputError
from explorer.tasks.generation_metrics import METRICS
from explorer.tasks.given import HELD_NAME, Content, Given, Parts, hold_out_texts
from explorer.tasks.read_file import Place, checked_example, read_grid, short_name
from explorer.tasks.task import WRITTEN, Example, Task

SLOTS = ("name", "Type", "food", "price", "customer rating", "area", "family friendly", "near")
"""The slots in the order in which a meaning names them."""

_NAMES = {
    "eatType": "Type",
    "priceRange": "price",
    "customerRating": "customer rating",
    "familyFriendly": "family friendly",
}
"""Slots that E2E's own files call otherwise."""

_PART = re.compile(r"\s*([^\[\],]+?)\s*\[([^\[\]]*)\]\s*")

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
    """A meaning. slots: (slot, value) in the order of SLOTS. references: texts that express it."""

    slots: tuple[tuple[str, str], ...]
    references: tuple[str, ...]

    @property
    def text(self) -> str:
        """The meaning as a model reads it: `name : Bar Olmo | food : Italian`."""
        return spelled(self.slots)


def parse_meaning(text: str) -> tuple[tuple[str, str], ...]:
    """Parse the slots of a meaning that a visitor wrote, into the order of SLOTS, by SLOTS' names or E2E's own.

    Three notations are read: `name : Bar Olmo | food : Italian`, E2E's `name[Bar Olmo], food[Italian]`, and JSON:
    {"name": "Bar Olmo"}. Raises BadInputError for a part without a value, an unknown slot, one that comes twice, and a
    meaning without a slot.
    """
    known = {slot.casefold(): slot for slot in SLOTS} | {name.casefold(): slot for name, slot in _NAMES.items()}
    found: dict[str, str] = {}
    for name, value, part in _parts(text):
        slot = known.get(name.casefold())
        if not value or slot is None:
            raise BadInputError(
                f"“{part.strip()[:60]}” is no slot with its value. Write name : Bar Olmo | food : Italian, or as E2E does "
                f"name[Bar Olmo], food[Italian], with slots out of {', '.join(SLOTS)}."
            )
        if slot in found:
            raise BadInputError(f"The slot {slot} comes twice. Leave one of them out.")
        found[slot] = " ".join(value.split())
    if not found:
        raise BadInputError(f"The meaning is empty. Fill in at least one slot, such as {SLOTS[0]}.")
    return tuple((slot, found[slot]) for slot in SLOTS if slot in found)


def _parts(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (name, value, the part as written) for each part of a meaning, in any of the three notations."""
    written = text.strip()
    if written.startswith("{"):
        try:
            pairs = json.loads(written)
        except (ValueError, RecursionError):
            pairs = None
        if not isinstance(pairs, dict):
            raise BadInputError(f'“{written[:60]}” is no JSON object. Write {{"name": "Bar Olmo", "food": "Italian"}}.')
        for name, value in pairs.items():
            plain = "" if value is None or isinstance(value, (dict, list)) else str(value)
            yield name.strip(), plain.strip(), f"{name}: {plain}"
        return
    bracketed = "[" in written and "|" not in written
    # A comma may stand in a value, so only one after a bracket separates.
    for part in re.split(r"(?<=\])\s*,", written) if bracketed else written.split("|"):
        inside = _PART.fullmatch(part)
        name, _, value = (inside[1], "[", inside[2]) if inside else part.partition(":")
        if part.strip():
            yield name.strip(), value.strip(), part


def spelled(slots: Sequence[tuple[str, str]]) -> str:
    """Return slots as a model reads them: `name : Bar Olmo | food : Italian`."""
    return " | ".join(f"{slot} : {value}" for slot, value in slots)


def read_meaning(line: str) -> Meaning:
    """Read one line of the bundled file."""
    meaning, *references = line.split("\t")
    slots = [tuple(part.split(" : ", 1)) for part in meaning.split(" | ")]
    return Meaning(tuple((slot, value) for slot, value in slots), tuple(references))


def as_example(meaning: Meaning) -> Example:
    """Return a meaning with its references as an example."""
    return Example(meaning.text, None, 0.0, meaning.references)


def recognises(text: str) -> bool:
    """Return whether a table's first line names E2E's columns: mr and ref."""
    header = [cell.strip(' "').casefold() for cell in text.lstrip().partition("\n")[0].rstrip("\r").split(",")]
    return len(header) == 2 and header[0] == "mr" and header[1].startswith("ref")


def read(given: Given) -> Content:
    """Read the files. Raises BadInputError with the line and what is wrong with it."""
    other = given.validation
    validation = None if other is None else read_e2e(other, HELD_NAME)
    return Content(e2e_task(given.name, given.title), read_e2e(given.text, given.title), validation)


def hold_out(content: Content, name: str) -> Parts:
    """Hold out a fifth of the meanings with all their texts."""
    return hold_out_texts(content.train, False, name)


def read_e2e(text: str, name: str = "This file") -> tuple[Example, ...]:
    """Read E2E's own CSV, one text a row: an example for each meaning, in the file's order, with all its texts.

    Raises BadInputError with the line and what is wrong with it.
    """
    grid = read_grid(text, name)
    if not grid.rows:
        raise BadInputError(f"{name} holds a header and no meanings. Write a meaning and a text on each line below it.")
    return read_rows(((row.line, row.cells[0], row.cells[1]) for row in grid.rows), name, grid.header[1])


def read_rows(
    rows: Iterable[tuple[int, str, str]], name: str = "This file", column: str = "human_reference"
) -> tuple[Example, ...]:
    """Read rows of (line, meaning, text), where `column` is the name of the texts' column, as read_e2e does."""
    meanings: dict[str, list[str]] = {}
    for line, meaning, text in rows:
        place = Place(name, line)
        said = checked_example(text, place, column)
        texts = meanings.setdefault(_meaning(meaning, place), [])
        if said not in texts:
            texts.append(said)
    return tuple(Example(meaning, None, 0.0, tuple(texts)) for meaning, texts in meanings.items())


def _meaning(written: str, place: Place) -> str:
    """Return `name[Bar Olmo], eatType[pub]` as a model reads it: `name : Bar Olmo | Type : pub`. Raises BadInputError."""
    parts = [_PART.fullmatch(part) for part in re.split(r"(?<=\])\s*,", written.strip())]
    slots = {_NAMES.get(part[1], part[1]): part[2].strip() for part in parts if part is not None}
    unknown = next((slot for slot in slots if slot not in SLOTS), None)
    if None in parts or unknown is not None or not all(slots.values()):
        known = ", ".join(dict(zip(_NAMES.values(), _NAMES, strict=True)).get(slot, slot) for slot in SLOTS)
        what = (
            f"the slot {short_name(unknown)}" if unknown else f"a meaning that cannot be read ({short_name(written)})"
        )
        raise place.wrong(what, f"Write slot[value], slot[value] with the slots {known}.")
    return Meaning(tuple((slot, slots[slot]) for slot in SLOTS if slot in slots), ()).text


def e2e_task(name: str, title: str) -> Task:
    """Return a task like E2E, with a visitor's own meanings."""
    return Task(name, short_name(title), E2E.question, E2E.columns, (), METRICS, "A visitor's own file.", WRITTEN)
