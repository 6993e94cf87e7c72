"""Sentence order in a real browser: one pair, and both heads on the same pairs."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


def test_one_pair_and_three_kinds_of_pairs(visit: Visit) -> None:
    visit.open("pairs", "#pair-figure")
    page = visit.page
    open_tab(page, "Order: SOP beside NSP")
    said = page.locator("#order-said")
    expect(said).to_contain_text("P(in order)")
    expect(page.locator("#order-trust")).to_contain_text("of held-out pairs of segments")
    before = said.inner_text()
    page.get_by_role("button", name="Swap the two").click()
    expect(said).not_to_have_text(before)

    open_tab(page, "Both heads")
    expect(page.locator("#kinds-said")).to_contain_text("Of the swapped pairs NSP (bert-small) accepts")
    kinds = page.locator("#kinds-notes")
    expect(kinds).to_contain_text("of 4 true pairs")
    table = page.locator("table.quoted:visible")
    expect(table).to_contain_text("bert-mini")
    expect(table).to_contain_text("albert-mini")
    expect(table).to_contain_text("86.5")
    page.get_by_role("button", name="No order at all").click()
    expect(kinds).to_contain_text("of 3 true pairs")

    page.get_by_label("A text: its neighbours are the true pairs").fill("<img src=x onerror=alert(1)> one.")
    page.get_by_role("button", name="Score all three kinds").click()
    expect(page.locator(".notice[role=alert]")).to_contain_text("at least two")
    expect(kinds).to_contain_text("of 3 true pairs")
