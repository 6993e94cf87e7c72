"""Replaced tokens in a real browser: one draw, words replaced by hand, many draws, and a model that can't."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

FOLD = 768
"""Lines of a projector."""


def test_it_opens_with_a_draw_and_each_tab_answers(visit: Visit) -> None:
    visit.open("replaced", "#replaced-figure")
    page = visit.page
    said, chips = page.locator("#replaced-said"), page.locator("#replaced-chips .chip")
    expect(said).to_contain_text("2 of 14 tokens were masked")
    expect(chips).to_have_count(14)
    expect(page.locator("#replaced-chips")).to_contain_text("family")
    expect(page.locator("#signal-said")).to_contain_text("all 14 tokens")
    expect(page.locator("#replaced-steps tbody tr")).to_have_count(2)
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
    expect(hand).to_contain_text("eats")
    assert page.locator("#hand-said b, #hand-chips b").count() == 0
    page.get_by_label("As the discriminator sees it").fill(" ")
    page.get_by_role("button", name="Ask the discriminator").click()
    expect(page.locator(".notice[role=alert]")).to_contain_text("nothing to show to the discriminator")

    visit.tab("Many draws")
    draws = page.locator("#draws-said")
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
    expect(page.locator("#replaced-said")).to_contain_text("2 of 14 tokens were masked")
    expect(notice).to_have_count(0)
