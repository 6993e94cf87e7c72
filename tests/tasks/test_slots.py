"""Slots found in texts: in the bundled references, which say all of their meaning, and in texts that do not."""

from __future__ import annotations

from random import Random

import pytest

from explorer.errors import BadInputError
from explorer.tasks.formats.e2e import parse_meaning, spelled
from explorer.tasks.places.bundled import load_e2e, restaurants
from explorer.tasks.slots import check_slots, says
from tests.rows import each_row

MILL = (("name", "The Mill"), ("Type", "pub"), ("area", "riverside"), ("family friendly", "no"))


def states(text: str, meaning: tuple[tuple[str, str], ...] = MILL) -> set[tuple[str, str]]:
    return {(one.slot, one.state) for one in check_slots(meaning, text) if one.state != "said"}


def test_the_references_say_all_of_their_meaning_and_hardly_anything_else() -> None:
    found = [
        one for meaning in restaurants() for text in meaning.references for one in check_slots(meaning.slots, text)
    ]
    assert sum(one.state == "said" for one in found) == 4028
    assert sum(one.state == "missed" for one in found) == 0
    assert sum(one.state == "invented" for one in found) <= 1


def test_another_value_than_the_meanings_is_hardly_ever_found() -> None:
    values: dict[str, set[str]] = {}
    for meaning in restaurants():
        for slot, value in meaning.slots:
            values.setdefault(slot, set()).add(value)
    draw, wrong, asked = Random(0), 0, 0
    for meaning in restaurants():
        for text in meaning.references:
            for slot, value in meaning.slots:
                wrong += says(slot, draw.choice(sorted(values[slot] - {value})), text)
                asked += 1
    assert wrong / asked < 0.01


@each_row(
    ("text", "found"),
    [
        ("The Mill is a pub by the river that is not for children.", set()),
        ("The Mill is a pub by the river.", {("family friendly", "missed")}),
        (
            "The Mill is a pub by the river where children are welcome.",
            {("family friendly", "missed"), ("family friendly", "invented")},
        ),
        (
            "The Mill is an adults-only riverside pub with cheap French food.",
            {("price", "invented"), ("food", "invented")},
        ),
        ("A riverside pub for adults only.", {("name", "missed")}),
        ("", {(slot, "missed") for slot, _ in MILL}),
    ],
)
def test_what_is_missed_and_what_is_invented(text: str, found: set[tuple[str, str]]) -> None:
    assert states(text) == found


def test_a_name_says_nothing_about_the_kind_of_place() -> None:
    meaning = (("name", "Cafe Merle"), ("near", "Old City Pub"))
    assert states("Cafe Merle is near Old City Pub.", meaning) == set()


def test_a_meaning_is_read_in_any_order_and_written_in_one() -> None:
    assert parse_meaning(" Food : Thai|NAME: Quill ") == (("name", "Quill"), ("food", "Thai"))
    assert spelled(parse_meaning("food : Thai | name : Quill")) == "name : Quill | food : Thai"


@each_row(
    ("text", "said"),
    [("", "empty"), ("name Quill", "no slot"), ("colour : red", "name, Type"), ("name : a | name : b", "twice")],
)
def test_what_is_no_meaning_says_what_to_write(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_meaning(text)


def test_no_held_out_meaning_is_trained_on() -> None:
    data = load_e2e()
    train, held = {one.text for one in data.train}, {one.text for one in data.validation["validation"]}
    assert len(train) == 272
    assert len(held) == 68
    assert not train & held
    assert all(len(one.answers) == 2 for one in (*data.train, *data.validation["validation"]))


@pytest.mark.parametrize(
    "text",
    [
        "name[The Blue Lagoon], eatType[pub], priceRange[moderate], customerRating[3 out of 5], familyFriendly[yes]",
        "priceRange : moderate | name : The Blue Lagoon | eatType : pub | customer rating : 3 out of 5 | familyFriendly : yes",
        '{"name": "The Blue Lagoon", "eatType": "pub", "priceRange": "moderate", "customerRating": "3 out of 5", '
        '"familyFriendly": "yes"}',
    ],
)
def test_e2e_s_own_names_and_notations_are_read(text: str) -> None:
    assert parse_meaning(text) == (
        ("name", "The Blue Lagoon"),
        ("Type", "pub"),
        ("price", "moderate"),
        ("customer rating", "3 out of 5"),
        ("family friendly", "yes"),
    )


@each_row(
    ("text", "said"),
    [
        ("name[Quill], colour[red]", "colour"),
        ("name[Quill], food", "no slot with its value"),
        ("name[]", "no slot with its value"),
        ('{"name": ["Quill"]}', "no slot with its value"),
        ('{"name": "Quill"', "no JSON object"),
        ('{"name": ' + "[" * 5000, "no JSON object"),
        ("price[high], priceRange[high]", "comes twice"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        parse_meaning(text)
