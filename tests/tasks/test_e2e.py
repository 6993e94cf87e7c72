"""The bundled restaurants are as their README says, and E2E's own file is read as they are."""

from __future__ import annotations

import pytest

from explorer.errors import BadInputError
from explorer.settings import Settings
from explorer.tasks.formats.e2e import SLOTS, Meaning, read_e2e, read_meaning, recognises
from explorer.tasks.places.bundled import restaurants
from explorer.tasks.sources import keep_upload
from explorer.tasks.task import WRITTEN
from tests.rows import each_row
from tests.tasks.conftest import Write

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


class TestItsOwnCsv:
    ROWS = (
        'mr,ref\n"name[Bar Olmo], eatType[pub], priceRange[£20-25], familyFriendly[no]","A pub, Bar Olmo."\n'
        '"near[Crane Bridge], name[Gusto]",Gusto is near Crane Bridge.\n'
        '"name[Bar Olmo], eatType[pub], priceRange[£20-25], familyFriendly[no]",Bar Olmo is a pub.\n'
    )

    def test_rows_of_one_meaning_are_one_example_in_the_words_of_the_bundled_ones(self) -> None:
        first, second = read_e2e(self.ROWS)
        assert first.text == "name : Bar Olmo | Type : pub | price : £20-25 | family friendly : no"
        assert first.answers == ("A pub, Bar Olmo.", "Bar Olmo is a pub.")
        assert second.text == "name : Gusto | near : Crane Bridge", "slots stand in one order"

    @each_row("header", ["mr,ref", '"mr","ref"', "MR,ref_tokenised", "mr,ref\r"])
    def test_its_header_is_known(self, header: str) -> None:
        assert recognises(f"{header}\nname[A],b\n")

    @each_row("header", ["text,label", "mr,label", "mr", "mr,ref,label"])
    def test_other_tables_are_not_it(self, header: str) -> None:
        assert not recognises(f"{header}\nname[A],b\n")

    @each_row(
        ("row", "said"),
        [
            ('"name[A], stars[3]",x', "line 2: the slot stars. Write .* priceRange"),
            ("name A,x", r"line 2: a meaning that cannot be read \(name A\)"),
            ("name[],x", "cannot be read"),
            ("name[A],", "nothing in the column ref"),
        ],
    )
    def test_a_broken_row_is_named(self, row: str, said: str) -> None:
        with pytest.raises(BadInputError, match=said):
            read_e2e(f"mr,ref\n{row}\n")

    def test_an_upload_is_a_task_of_writing(self, settings: Settings, write: Write) -> None:
        rows = "".join(f'"name[A{n}], area[riverside]",A{n} is there.\n' for n in range(20))
        data = keep_upload(write("mr,ref\n" + rows, "trainset.csv"), settings)
        assert (data.task.kind, data.task.columns) == (WRITTEN, ("meaning",))
        assert (len(data.train), len(data.validation["validation"])) == (16, 4)
