"""How likely is a sentence, the minimal pairs, and several blanks, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def masking(visitor: Visit) -> Visit:
    """The page, of which each test opens a tab."""
    visitor.open("masking", "#fill-figure")
    return visitor


def test_two_sentences_are_compared_and_pairs_are_ranked(masking: Visit) -> None:
    page = masking.page
    open_tab(page, "How likely?")
    said = page.locator("#score-said")
    expect(said).to_contain_text("the first likelier")
    noted = page.locator("#score-notes")
    expect(noted).to_contain_text("“are” / “is”")
    expect(page.locator("#score-facts")).to_contain_text("gpt2-mini: ln p")
    page.wait_for_selector("#score-figure .plot[data-drawn]")

    page.get_by_role("button", name="Names of two words").click()
    expect(noted).to_contain_text("more than 1")
    fold = page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text("York")

    page.locator("#score-sentences textarea").fill("The [MASK] <img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".notice[role=alert]")).to_contain_text("has a blank")
    expect(noted).to_contain_text("more than 1")

    open_tab(page, "Thirty minimal pairs")
    expect(page.locator("#minimal-pairs-said")).to_contain_text("of 30 pairs right")
    page.wait_for_selector("#minimal-pairs-figure .plot[data-drawn]")
    expect(page.locator("#pairs-start")).to_be_visible()
    masking.assert_unharmed()


def test_several_blanks_are_filled_in_four_ways(masking: Visit) -> None:
    page = masking.page
    open_tab(page, "Several blanks")
    page.wait_for_selector("#several-figure .plot[data-drawn]")
    said = page.locator("#several-said")
    expect(said).to_contain_text("each blank alone gives")
    before = masking.draws("#several-figure")
    page.get_by_role("button", name="A line of eight").click()
    masking.wait_redrawn("#several-figure", before)
    fold = page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text("left to right")
    masking.assert_unharmed()


def test_one_word_is_changed(masking: Visit) -> None:
    page = masking.page
    open_tab(page, "One word changed")
    said = page.locator("#swap-said")
    expect(said).to_contain_text("With “man”")
    page.get_by_role("button", name="Another land").click()
    expect(said).to_contain_text("With “France”")
    page.wait_for_selector("#swap-figure .plot[data-drawn]")
    fold = page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text("Paris")
    masking.assert_unharmed()
