"""The way through the pages: every tab leads on, every address that is named opens, every page is on the map."""

from __future__ import annotations

import re
from typing import cast

import gradio as gr
import pytest
from markupsafe import escape

from explorer.home import HOME, ways
from explorer.labs import LABS
from explorer.labs.wayup.jobs import whole_pass
from explorer.labs.wayup.schema import PassParams
from explorer.labs.wayup.stages_figures import stages
from explorer.lessons.reading import bundled
from explorer.models.loaded_model import LoadedModel
from explorer.navigation import pages_and_tabs
from explorer.path import LEADS, PATH, PLACES, STATIONS
from explorer.serving.pages import Pages
from explorer.ui.address import Address
from explorer.ui.kept_controls import path_of
from tests.rows import each_row
from tests.ui.test_address import Picker

NAMED = sorted({one.to for one in (*LEADS.values(), *STATIONS, *PLACES)})
MINUTES = 45


@pytest.fixture(scope="module")
def addresses(blocks: gr.Blocks) -> dict[str, Address]:
    """Of all pages."""
    return cast(Pages, blocks).addresses


def test_every_tab_says_what_it_leaves_open_and_where_that_leads(addresses: dict[str, Address]) -> None:
    tabs = {(slug, path_of(place[:1])) for slug, address in addresses.items() for place in address.places()}
    assert tabs == set(LEADS)


@each_row("to", NAMED)
def test_every_address_that_is_named_opens(to: str, addresses: dict[str, Address]) -> None:
    slug, _, fragment = to.partition("#")
    found = addresses[slug].restore(Picker(), "", fragment)
    assert found.get("address", {"said": ""})["said"] == ""


@pytest.mark.parametrize("layer", [-1, 2])
def test_every_stage_of_the_way_up_leads_to_a_page_that_takes_its_sentence(
    layer: int, addresses: dict[str, Address], loaded: LoadedModel
) -> None:
    asked = PassParams("The keys to the cabinet are on the table.", ("are",), layer=layer)
    for stage in stages(whole_pass(loaded, asked)):
        slug, _, fragment = stage["to"].partition("#")
        found = addresses[slug].restore(Picker(), "", fragment)["address"]
        assert found["said"] == ""
        assert any("cabinet" in str(value) for value in found["values"].values()) or "tab=layer" in fragment


def test_no_tab_leads_to_itself() -> None:
    firsts = dict(reversed(LEADS))
    for (slug, tab), lead in LEADS.items():
        to, _, fragment = lead.to.partition("#tab=")
        assert (slug, tab) != (to, fragment or firsts[to])


def test_every_tab_can_be_reached_from_the_first_by_what_is_left_open_or_the_path() -> None:
    firsts = dict(reversed(LEADS))
    reached = {(slug, firsts[slug]) for slug in firsts}  # every page is in the menu
    for lead in (*LEADS.values(), *STATIONS):
        slug, _, tab = lead.to.partition("#tab=")
        reached.add((slug, tab or firsts[slug]))
    aside = {
        ("directions", "stacks"),
        ("masking", "swap"),
        ("pairs", "all"),
        ("models", "curves"),
        ("attention", "views"),
        ("attention", "run-switches"),
        ("finetune", "sweep"),
        ("finetune", "runs"),
        ("finetune", "merge"),
        ("finetune", "memory"),
    }  # what a tab offers beside the path
    assert set(LEADS) - reached <= aside


def test_the_path_is_ten_questions_in_forty_five_minutes() -> None:
    assert len(PATH) == 10
    short, long = [one.of_45 for one in PATH], [one.of_90 for one in STATIONS]
    assert short == sorted(minute for minute in short if minute is not None)
    assert max(minute or 0 for minute in short) < MINUTES
    assert long == sorted(long)
    assert long[-1] < 2 * MINUTES


def test_a_page_that_reads_a_sentence_has_the_control_for_it(addresses: dict[str, Address]) -> None:
    reading = [lab for lab in (HOME, *LABS) if lab.reads]
    assert reading
    for lab in reading:
        assert lab.reads
        places = addresses[lab.slug].places()
        first = path_of(places[0][:1])
        tab = lab.reads.tab or first
        here = [one for one in addresses[lab.slug].kept if not one.tabs or one.tabs[0][1] == tab]
        named = [one for one in here if one.name == lab.reads.name]
        assert [one.is_sentence for one in named] == [True], lab.slug
        if lab.reads.how == "hidden":
            assert any(one.name == "also_mask" for one in here)


def test_the_map_lists_every_page_and_every_tab(addresses: dict[str, Address]) -> None:
    listed = pages_and_tabs(addresses)
    assert [page.to for page in listed] == [lab.slug for lab in LABS]
    tabs = [tab.to for page in listed for tab in page.tabs]
    assert (
        len(tabs) == len(set(tabs)) == sum(place != () for address in addresses.values() for place in address.places())
    )
    assert any("Rank" in tab.controls for page in listed for tab in page.tabs)


def test_the_front_page_has_three_ways_in() -> None:
    said = str(ways())
    assert len(re.findall("<details(?: open)?><summary>", said)) == 3
    assert all(one.question in said for one in PATH)
    assert all(str(escape(one.title)) in said for one in bundled().values())
