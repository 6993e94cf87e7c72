"""The generation page in a real browser: rows that come, a token that is pressed, a branch, and a model that can't write."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

DECODINGS = 5
TOKENS = 24
FOLD = 768
"""Lines of a projector."""


def test_a_text_is_continued_and_branches_where_a_token_is_pressed(visit: Visit) -> None:
    visit.open("generation", "#next-figure")
    page = visit.page
    rows, pieces = page.locator("#continue-rows .written"), page.locator("#continue-rows button.piece")
    expect(pieces).to_have_count(DECODINGS * TOKENS)
    expect(page.locator("#continue-notes")).to_contain_text("Greedy and beam search repeat themselves")
    box = rows.last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= FOLD
    nav = page.locator(".top nav .chapter").evaluate_all("parts => parts.map((part) => part.offsetTop)")
    assert len(set(nav)) == 1, "the navigation stands on one line"
    page.get_by_role("button", name="Data: one token").click()
    at_one = page.locator(".folds:visible").last.get_by_role("grid")
    expect(at_one).to_contain_text("probability")
    expect(at_one.get_by_role("row").nth(1)).to_be_visible()

    pressed = page.locator('[data-decoding="top_p"] button.piece').nth(5)
    word = str(pressed.text_content())
    before = visit.draws("#next-figure")
    pressed.click()
    expect(page.locator("#next-said")).to_contain_text("top-p, p = 0.9 allows")
    expect(page.locator("#next-notes")).to_contain_text(f"It wrote “{word}”")
    visit.wait_redrawn("#next-figure", before)
    expect(pressed).to_have_attribute("aria-pressed", "true")

    other = page.locator("#next-others button.chip").nth(2)
    chosen = str(other.locator(".chip-text").text_content())
    other.click()
    expect(page.locator("#continue-branch")).to_contain_text("your branch")
    for row in range(DECODINGS):
        hand = rows.nth(row).locator(".piece.by-hand")
        expect(hand).to_have_count(6)
        assert hand.last.text_content() == chosen
    expect(pieces).to_have_count(DECODINGS * (TOKENS + 6))

    page.locator("#continue-text textarea").fill("The <b>old</b> lighthouse")
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator("#continue-rows .by-hand")).to_have_count(0)
    expect(page.locator("#next-said")).to_contain_text("</b> lighthouse")
    assert page.locator("#next-said b").count() == 0


def test_a_model_that_cannot_write_is_told_why_and_offered_one_that_can(visit: Visit) -> None:
    visit.open("generation", "#next-figure")
    page = visit.page
    visit.choose("bert-mini")
    notice = page.locator(".notice[role=alert]")
    expect(notice).to_contain_text("bert-mini cannot continue a text")
    expect(page.locator("#continue-rows .written")).to_have_count(0)
    expect(page.locator("#next-figure .plot")).to_be_hidden()
    page.click(".offer")
    expect(page.locator("#model-picker input")).to_have_value(re.compile("^gpt2-mini"))
    expect(page.locator("#continue-rows button.piece")).to_have_count(DECODINGS * TOKENS)
    expect(notice).to_have_count(0)
    page.get_by_role("button", name="Wait for the loop").click()
    expect(page.locator("#continue-rows .written")).to_have_count(2)
    expect(page.locator("#continue-notes")).to_contain_text("who was the king of")
    page.locator("#continue-decodings").get_by_label("greedy").uncheck()
    expect(page.locator("#continue-rows .written")).to_have_count(1)
