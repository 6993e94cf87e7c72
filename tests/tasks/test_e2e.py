"""The bundled restaurants are as their README says."""

from __future__ import annotations

import pytest

from explorer.tasks.e2e import SLOTS, Meaning, read_meaning, restaurants

VALUES = {
    "Type": {"restaurant", "pub", "coffee shop"},
    "food": {"Chinese", "English", "French", "Indian", "Italian", "Japanese", "Fast food"},
    "price": {"cheap", "moderate", "high", "less than £20", "£20-25", "more than £30"},
    "customer rating": {"low", "average", "high", "1 out of 5", "3 out of 5", "5 out of 5"},
    "area": {"city centre", "riverside"},
    "family friendly": {"yes", "no"},
}


def test_there_are_340_different_meanings_with_two_texts_each() -> None:
    found = restaurants()
    assert len({one.slots for one in found}) == len(found) == 340
    assert all(len(one.references) == 2 and one.references[0] != one.references[1] for one in found)
    texts = [text for one in found for text in one.references]
    assert len(set(texts)) == len(texts)


def test_slots_stand_in_order_with_known_values() -> None:
    for one in restaurants():
        names = [slot for slot, _ in one.slots]
        assert names == [slot for slot in SLOTS if slot in names]
        assert names[0] == "name"
        assert 3 <= len(names) <= 8
        assert all(value in VALUES.get(slot, {value}) for slot, value in one.slots)


@pytest.mark.parametrize("slot", ["name", "near"])
def test_every_text_names_the_place_and_what_it_is_near(slot: str) -> None:
    missing = [
        (value, text)
        for one in restaurants()
        for value in [dict(one.slots).get(slot)]
        for text in one.references
        if value and value.lower().removeprefix("the ") not in text.lower()
    ]
    assert missing == []


def test_a_meaning_is_written_as_it_was_read() -> None:
    line = "name : Bar Olmo | food : Italian | near : Crane Bridge\tOne.\tTwo."
    assert read_meaning(line) == Meaning(
        (("name", "Bar Olmo"), ("food", "Italian"), ("near", "Crane Bridge")), ("One.", "Two.")
    )
    assert f"{read_meaning(line).text}\tOne.\tTwo." == line
