"""Replaced tokens in a real browser: one draw, words replaced by hand, many draws, and a model that can't."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

FOLD = 768
"""Lines of a projector."""


def assert_columns(rows: Any) -> None:
    """Each token stands below itself."""
    lefts = [[chip.bounding_box()["x"] for chip in row.locator(".chip").all()] for row in rows.all()]
    assert lefts[0] == lefts[1] == lefts[2] == lefts[3]


def test_it_opens_with_a_draw_and_each_tab_answers(visit: Visit) -> None:
    visit.open("replaced", "#replaced-figure")
    page = visit.page
    said, rows = page.locator("#replaced-notes"), page.locator("#replaced-rows .aligned-row")
    expect(page.locator("#replaced-said")).to_contain_text("of 2 replaced tokens")
    expect(said).to_contain_text("2 of 14 tokens were masked")
    expect(rows).to_have_count(4)  # a projector is wide enough for all 14 tokens
    expect(page.locator("#replaced-rows .chip")).to_have_count(4 * 14)
    expect(rows.nth(0)).to_contain_text("guests")
    expect(rows.nth(1)).to_contain_text("[MASK][MASK]")
    expect(rows.nth(2)).to_contain_text("family")
    assert_columns(rows)
    expect(page.locator("#signal-said")).to_contain_text("all 14 tokens")
    expect(page.locator("#replaced-steps tbody tr")).to_have_count(2)
    expect(page.locator("#replaced-published")).to_contain_text("85.0")
    box = page.locator("#replaced-figure .plot").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= FOLD
    page.get_by_role("button", name="Mask half of it").click()
    expect(said).to_contain_text("14 of 28 tokens were masked")
    page.get_by_role("button", name="Data").first.click()
    expect(page.locator("table:visible").last).to_contain_text("is_replaced")

    visit.tab("Replace it yourself")
    hand = page.locator("#hand-said")
    expect(hand).to_contain_text("“soup” in place of “album”")
    page.get_by_label("As the discriminator sees it").fill("The band <b>eats</b> its first album in 1994.")
    page.get_by_role("button", name="Ask the discriminator").click()
    expect(page.locator("#hand-notes")).to_contain_text("eats")
    assert page.locator("#hand-said b, #hand-notes b, #hand-chips b").count() == 0
    page.get_by_label("As the discriminator sees it").fill(" ")
    page.get_by_role("button", name="Ask the discriminator").click()
    expect(page.locator(".notice[role=alert]")).to_contain_text("nothing to show to the discriminator")

    visit.tab("Many draws")
    draws = page.locator("#draws-notes")
    expect(draws).to_contain_text("In 20 draws 40 tokens were masked, and 35 of 280 differ")
    expect(page.locator("#draws-start")).to_be_visible()
    page.get_by_role("button", name="A film").last.click()
    expect(draws).to_contain_text("of 580 differ")


def test_a_model_that_cannot_is_told_why_and_offered_one_that_can(visit: Visit) -> None:
    visit.open("replaced", "#replaced-figure")
    page = visit.page
    visit.choose("bert-mini")
    notice = page.locator(".notice[role=alert]")
    expect(notice).to_contain_text("bert-mini cannot detect replaced tokens")
    expect(page.locator("#replaced-figure .plot")).to_be_hidden()
    page.click(".offer")
    expect(page.locator("#model-picker input")).to_have_value(re.compile("^electra-mini-discriminator"))
    expect(page.locator("#replaced-notes")).to_contain_text("2 of 14 tokens were masked")
    expect(notice).to_have_count(0)


def test_on_a_phone_the_rows_go_on_in_further_blocks(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 390, "height": 844})
    visit.open("replaced", "#replaced-figure")
    blocks = page.locator("#replaced-rows .aligned-block")
    expect(blocks.nth(2)).to_be_visible()
    expect(page.locator("#replaced-rows .chip")).to_have_count(4 * 14)
    for block in blocks.all():
        assert_columns(block.locator(".aligned-row"))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(blocks).to_have_count(1)
