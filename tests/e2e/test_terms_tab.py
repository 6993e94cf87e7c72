"""The tabs for DeBERTa: its scores in three terms, and its relative positions; another
model above leaves them with the bundled one, and they say so."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.hostile import HOSTILE
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


def test_scores_are_taken_apart_with_the_bundled_deberta(visitor: Visit) -> None:
    visitor.open("attention", "#attention-figure")
    page = visitor.page
    open_tab(page, "Content and position")
    said = page.locator("#terms-said")
    expect(said).to_contain_text(
        "Layer 0, head 2: of what tells tokens apart in a row, content → position makes most, 9"
    )
    expect(page.locator("#terms-notes")).to_contain_text("differs from deberta-mini's own attention by at most")
    page.wait_for_selector("#terms-figure .plot[data-drawn]")
    before = visitor.draws("#terms-figure")
    page.get_by_role("button", name="Content and position", exact=True).click()
    expect(said).to_contain_text("Layer 0, head 5")
    visitor.wait_redrawn("#terms-figure", before)
    before = visitor.draws("#terms-figure")
    page.get_by_label("As they are added").click()
    visitor.wait_redrawn("#terms-figure", before)
    for text in HOSTILE[:3]:
        before = visitor.draws("#terms-figure")
        box = page.get_by_label("Sentence A", exact=True)
        box.fill(text)
        box.press("Enter")
        visitor.wait_redrawn("#terms-figure", before)
        assert page.locator("#terms-figure b, #terms-said img").count() == 0
    visitor.assert_unharmed()


def test_relative_positions_follow_the_length(visitor: Visit) -> None:
    visitor.page.goto(f"{visitor.address}/inputs")
    visitor.page.wait_for_selector("#model-picker input")
    visitor.choose("deberta-mini")
    open_tab(visitor.page, "Positions")
    said, notes = visitor.page.locator("#relative-said"), visitor.page.locator("#relative-notes")
    expect(said).to_contain_text("Each of the 23 distances")
    expect(notes).to_contain_text("takes 23 of the 128 rows")
    visitor.page.get_by_role("button", name="160 tokens", exact=True).click()
    expect(said).to_contain_text("319 distances in such a text share 128 rows")
    expect(notes).to_contain_text("takes 128 of the 128 rows")
    expect(notes).to_contain_text("From −63 to 62 each distance has a row of its own")
    visitor.assert_unharmed()
