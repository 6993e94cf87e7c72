"""Why 15% in a real browser: they open computed, come one after another, stop when told to, and follow the model above."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


def test_rates_come_one_after_another_and_stop(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    page = visit.page
    open_tab(page, "Why 15%")
    said, start, stop = page.locator("#rates-notes"), page.locator("#rates-start"), page.locator("#rates-start-stop")
    expect(said).to_contain_text("bert-mini names")
    page.wait_for_selector("#rates-figure .plot[data-drawn]")
    fold = page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text("bert-small")
    expect(start).to_be_visible()
    start.click()
    stop.click()
    expect(start).to_be_visible()

    visit.choose("roberta-mini")
    expect(said).to_contain_text("roberta-mini names")
    expect(said).not_to_contain_text("bert-small")
    expect(start).to_be_visible()
    before = said.inner_text()
    page.get_by_role("button", name="The same, five times", exact=True).click()
    expect(said).not_to_have_text(before)
    expect(start).to_be_visible()
    expect(said).to_contain_text("1.25 at 80%")
    expect(said).to_contain_text("roberta-mini names")
    expect(fold.get_by_role("grid")).to_contain_text("roberta-mini")
    visit.assert_unharmed()
