"""The pretraining page in a real browser: one row step by step, and what a visitor changes of it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, width_of

pytestmark = pytest.mark.e2e

IN_ONE_LINE = "document.querySelector('.top nav').getBoundingClientRect().height <= 60"
"""The navigation's chapters stand beside each other."""


def test_one_row_opens_step_by_step_and_follows_what_is_changed(visit: Visit) -> None:
    visit.open("pretrain", "#row-figure")
    page, said = visit.page, visit.page.locator("#row-said")
    expect(page.locator("#row-drawn")).to_contain_text("The coin says: is next.")
    expect(page.locator("#row-chips .chip")).to_have_count(45)
    expect(page.locator("#row-corrupted .mask, #row-corrupted .random, #row-corrupted .kept")).to_have_count(6)
    expect(page.locator("#row-terms tbody tr")).to_have_count(6)
    expect(said).to_contain_text("bert-small guesses 4 of 6 tokens right")
    expect(page.locator(".row-step")).to_have_count(6)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        if width > 640:
            page.wait_for_function(IN_ONE_LINE)
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
    page.set_viewport_size({"width": 1024, "height": 768})

    page.get_by_role("button", name="B from elsewhere").click()
    expect(page.locator("#row-drawn")).to_contain_text("Chosen by hand: not next.")
    expect(page.locator(".row-documents .in-b").first).to_contain_text("Bread")
    visit.choose("roberta-mini")
    expect(page.locator("#row-model")).to_contain_text("roberta-mini doesn't have both of BERT's heads")
    expect(said).to_contain_text("bert-small guesses")

    page.get_by_label("Document 1").fill("A <b>bold</b> lamp. It is late.")
    page.get_by_label("Document 1").blur()
    expect(page.locator(".row-documents")).to_contain_text("<b>bold</b>")
    page.get_by_label("Document 1").fill("One sentence alone.")
    page.get_by_label("Document 1").blur()
    expect(page.locator(".notice[role=alert]")).to_contain_text("Document 1 has no second sentence")
    expect(page.locator(".row-documents")).to_contain_text("<b>bold</b>")
