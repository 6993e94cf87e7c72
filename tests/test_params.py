"""What a class under `@params` does with its fields, and what every action declares."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import MISSING, FrozenInstanceError, fields, replace
from typing import Annotated, Any, Self

import pytest
from pydantic import AfterValidator, model_validator

from explorer.action import Action, LiveAction
from explorer.errors import BadInputError
from explorer.kinds import Exact, Flag, Names, Number, OneOf, Whole
from explorer.labs import LABS
from explorer.params import SecondText, Seed, Shown, Text, declared, params
from tests.rows import each_row

ACTIONS = [action for lab in LABS for action in lab.actions]


@params
class Asked:
    """A question."""

    text: Text
    top_k: Annotated[int, Whole(1, 50), Shown("Ranks", slider=(1, 10))] = 5
    names: Annotated[tuple[str, ...], Names(), AfterValidator(lambda names: names or ("all",))] = ()
    seed: Annotated[Seed, Shown("Seed of the draw")] = 0


@params
class AskedMore(Asked):
    """A question with two more parameters, one of which goes with another."""

    second: SecondText = ""
    even: Annotated[bool, Flag()] = False
    rate: Annotated[float, Number(0, 1)] = 0.5

    @model_validator(mode="after")
    def _even_has_a_rate(self) -> Self:
        if self.even and not self.rate:
            raise BadInputError("An even share of nothing is nothing.")
        return self


def test_values_come_by_place_or_by_name_and_are_brought_to_their_type() -> None:
    asked: Any = Asked("A text.", "7", names="b, c")  # type: ignore[arg-type]
    assert (asked.top_k, asked.names, asked.seed) == (7, ("b", "c"), 0)
    assert Asked("A text.").names == ("all",)
    more: Any = AskedMore("A text.", rate="0.25", even=0, second="  ")  # type: ignore[arg-type]
    assert (more.rate, more.even, more.second) == (0.25, False, "")


def test_they_are_frozen_records() -> None:
    asked = Asked("A text.", 7)
    assert asked == Asked("A text.", 7)
    assert hash(asked) == hash(Asked("A text.", 7))
    assert [field.name for field in fields(AskedMore)] == ["text", "top_k", "names", "seed", "second", "even", "rate"]
    with pytest.raises(FrozenInstanceError):
        asked.top_k = 3  # type: ignore[misc]


def test_a_changed_copy_is_read_as_well() -> None:
    with pytest.raises(BadInputError, match="top_k must be a whole number from 1 to 50"):
        replace(Asked("A text."), top_k=51)


def test_fields_are_checked_together() -> None:
    with pytest.raises(BadInputError, match="nothing is nothing"):
        AskedMore("A text.", even=True, rate=0)


@pytest.mark.parametrize("again", ["at first", "and later"])
def test_a_wrong_name_is_no_matter_for_a_visitor(again: str) -> None:
    @params
    class Fresh:
        text: Text

    for _ in range(1 if again == "at first" else 2):
        with pytest.raises(TypeError, match="topk"):
            Fresh("A text.", topk=3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match="text"):
            Fresh()  # type: ignore[call-arg]


def test_whoever_comes_while_a_class_is_first_used_waits_for_it() -> None:
    @params
    class Fresh:
        text: Text
        top_k: Annotated[int, Whole(1, 50)] = 5

    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda number: Fresh("A text.", number), range(1, 41)))
    assert [one.top_k for one in made] == list(range(1, 41))


def test_what_stands_at_the_field_goes_before_what_its_type_brings() -> None:
    assert declared(AskedMore)["seed"].shown.title == "Seed of the draw"
    assert declared(AskedMore)["seed"].kind == Whole(0, 2**31 - 1)
    assert declared(AskedMore)["rate"].shown == Shown("rate")


@each_row("action", ACTIONS, ids=[action.name for action in ACTIONS])
def test_half_a_number_is_refused_where_a_whole_one_is_meant(action: Action | LiveAction) -> None:
    known = declared(action.params)
    given = {name: "One here. Two there." for name, field in known.items() if field.default is MISSING}
    for name, field in known.items():
        if isinstance(field.kind, Whole | Exact):
            with pytest.raises(BadInputError, match=f"^{name} must be a whole number"):
                action.params(**{**given, name: 2.5})


@each_row("action", ACTIONS, ids=[action.name for action in ACTIONS])
def test_a_page_offers_nothing_that_is_refused(action: Action | LiveAction) -> None:
    for name, field in declared(action.params).items():
        for value in (*field.shown.slider[:2], *(value for _, value in field.shown.choices)):
            assert field.kind.read(value, name) in (value, (value,))
        if isinstance(field.kind, OneOf) and field.kind.titles:
            assert len(field.kind.titles) == len(field.kind.known)
