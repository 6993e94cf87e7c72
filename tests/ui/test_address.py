"""The page's address: what is read from one, and what is said of a value that cannot be."""

from __future__ import annotations

from typing import Any, cast

import gradio as gr
import pytest

from explorer.kinds import Whole
from explorer.models.catalog import DEFAULT_MODEL
from explorer.serving.pages import Pages
from explorer.ui.address import LONGEST, Address
from explorer.ui.kept_controls import Kept, UnreadableError, path_of
from tests.asked import Events, asked_of
from tests.rows import each_row

FAR = 3


class Picker:
    """Knows the bundled model and one more."""

    def at_hand(self, model: str) -> bool:
        return model in (DEFAULT_MODEL, "bert-mini")

    def restore(self, remembered: Any) -> dict[str, Any]:
        return {"model": remembered or DEFAULT_MODEL}


@pytest.fixture(scope="module")
def addresses(blocks: gr.Blocks) -> dict[str, Address]:
    """Of all pages."""
    return cast(Pages, blocks).addresses


def restored(address: Address, fragment: Any) -> dict[str, Any]:
    """What comes of a fragment; nothing where it asks for nothing."""
    found = address.restore(Picker(), "", fragment)
    return cast(dict[str, Any], found.get("address", {}))


def named(address: Address, values: dict[str, Any]) -> dict[str, Any]:
    """Values by their parameters' names."""
    return {one.name: values[str(one.component._id)] for one in address.kept if str(one.component._id) in values}


@each_row("fragment", ["", None, "content", 7])
def test_a_page_without_an_address_opens_as_it_is(addresses: dict[str, Address], fragment: Any) -> None:
    assert named(addresses["masking"], restored(addresses["masking"], fragment).get("values", {})) == {}


def test_values_are_of_their_controls_types(addresses: dict[str, Address]) -> None:
    found = restored(
        addresses["masking"], "text=A+%5BMASK%5D%26+b&top_k=7&in_view=true&compare=%5B%22roberta-mini%22%5D"
    )
    values = named(addresses["masking"], found["values"])
    assert values == {"text": "A [MASK]& b", "top_k": 7, "in_view": True, "compare": ["roberta-mini"]}
    assert found["said"] == ""


def test_a_name_is_looked_for_in_the_tab_that_is_named(addresses: dict[str, Address]) -> None:
    masking = addresses["masking"]
    first, inner = (restored(masking, f"{tab}text=One+[MASK].")["values"] for tab in ("", "tab=several&"))
    assert first.keys() != inner.keys()
    assert list(first.values()) == list(inner.values()) == ["One [MASK]."]


def test_a_tab_inside_a_tab_has_both_names(addresses: dict[str, Address]) -> None:
    masking = addresses["masking"]
    assert "corrupt/epochs" in map(path_of, masking.places())
    assert list(restored(masking, "tab=corrupt/epochs")["tabs"].values()) == ["corrupt", "epochs"]


@each_row(
    ("fragment", "said"),
    [
        ("top_k=many", "top_k must be a number; got 'many'."),
        ("top_k=99999", "top_k must be"),
        ("in_view=perhaps", "in_view must be true or false; got 'perhaps'."),
        ("colour=red", "Nothing here is called 'colour'."),
        ("tab=nowhere", "This page has no tab “nowhere”."),
        ("tab=corrupt/nowhere", "This page has no tab “corrupt/nowhere”."),
        ("model=someone/else", "The model someone/else is not on this machine: pick it at the top to fetch it."),
        ("left_out=text", "What stood in text was too long for an address."),
        ("compare=%5B7", "compare must be a list"),
    ],
)
def test_what_cannot_be_restored_is_said_and_the_rest_is(
    addresses: dict[str, Address], fragment: str, said: str
) -> None:
    found = restored(addresses["masking"], f"{fragment}&text=One+[MASK].")
    assert said in found["said"].replace("&#39;", "'")
    assert found["said"].endswith("The rest is as the address says.</p></div>")
    assert "One [MASK]." in found["values"].values()


def test_what_an_address_says_is_never_taken_for_html(addresses: dict[str, Address]) -> None:
    said = restored(addresses["masking"], "tab=<img src=x>&model=<b>&%3Cscript%3E=1")["said"]
    assert not any(tag in said for tag in ("<img", "<b>", "<script"))


def test_an_address_names_the_model_and_fetches_none(addresses: dict[str, Address]) -> None:
    masking = addresses["masking"]
    assert masking.restore(Picker(), "", "model=bert-mini")["model"] == "bert-mini"
    assert masking.restore(Picker(), "bert-mini", "model=someone/else")["model"] == "bert-mini"


def test_an_address_of_ten_megabytes_is_cut(addresses: dict[str, Address]) -> None:
    found = restored(addresses["masking"], "text=" + "a" * 10_000_000)
    assert max(map(len, found["values"].values())) < LONGEST


def test_names_are_unique_in_what_is_in_view(addresses: dict[str, Address]) -> None:
    for address in addresses.values():
        for place in address.places():
            here = [one.name for one in address.kept if all(step in place for step in one.tabs)]
            assert len(here) == len(set(here)), (path_of(place), sorted(here))


def test_every_tab_has_an_address(addresses: dict[str, Address]) -> None:
    paths = [path_of(place) for address in addresses.values() for place in address.places()]
    assert "None" not in "/".join(paths)
    assert len(paths) > FAR * len(addresses)


def test_every_tab_takes_up_all_that_can_be_asked_of_it(addresses: dict[str, Address]) -> None:
    """Every control's value is read, goes to that control, and is none that Gradio or the action refuses."""
    for slug, address in addresses.items():
        for tab in asked_of(slug, address):
            found, where = restored(address, tab.fragment), f"{slug}#{tab.fragment}"
            assert found["said"] == "", where
            assert found["tabs"] == ({} if tab.is_first else {str(number): name for number, name in tab.place}), where
            assert found["values"].keys() == {str(one.component._id) for one in tab.controls}, where
            for one in tab.controls:
                value = found["values"][str(one.component._id)]
                assert value == one.read(tab.texts[one.name]), (where, one.name)
                one.component.preprocess(value)  # raises where the browser's value is none of the control's
                if one.kind:
                    one.kind.read(value, one.name)


def test_a_browser_takes_up_every_kind_of_control(blocks: gr.Blocks, addresses: dict[str, Address]) -> None:
    """Those of the first tabs and those that pages set by themselves are of all kinds that there are."""
    events, tabs = Events(blocks), [one for slug, address in addresses.items() for one in asked_of(slug, address)]
    kinds, seen = set(), set()
    for tab in tabs:
        here = {type(one.component) for one in tab.controls}
        kinds |= here
        if tab.is_first or any(events.sets_by_itself(one.component) for one in tab.controls):
            seen |= here
    assert seen == kinds


def test_a_table_keeps_its_shape() -> None:
    value = {"headers": ["", "a"], "data": [["x", "1"], ["y", "2"]]}
    kept = Kept("cells", gr.Dataframe(value, type="array"), None, ())
    assert kept.read('[["x", "5"], ["y", "6"]]')["data"] == [["x", "5"], ["y", "6"]]
    for wrong in ("", "7", "[[1]]", '[["x", "5"]]', '[["x", {}], ["y", "6"]]'):
        with pytest.raises(UnreadableError, match="a table of 2 rows and 2 columns"):
            kept.read(wrong)


def test_an_empty_number_stays_empty_and_bounds_are_its_parameters_own() -> None:
    kept = Kept("layer", gr.Slider(0, 5, 1, step=1), Whole(0, 20), ())
    assert kept.read("12") == 12  # a larger model has more layers than the slider knew
    assert Kept("step", gr.Number(None), None, ()).read("") is None
    with pytest.raises(Exception, match="layer must be a whole number from 0 to 20"):
        kept.read("21")
