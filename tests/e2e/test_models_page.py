"""The family's page in a real browser: cards, sizes, figures, curves, and sizes to change."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


def test_every_tab_draws_and_answers_a_change(visit: Visit) -> None:
    visit.open("models#tab=bars", "#family-figure")
    page = visit.page
    expect(page.locator("#family-notes")).to_contain_text("counted tensor by tensor")
    before = visit.draws("#family-figure")
    page.get_by_label("their shares").check()
    visit.wait_redrawn("#family-figure", before)

    open_tab(page, "Changes")
    expect(page.locator(".family-card:visible")).to_have_count(9)

    open_tab(page, "Scores")
    expect(page.locator("#scores-said")).to_contain_text("First guess right")
    page.get_by_label("pairs", exact=True).check()
    expect(page.locator("#scores-notes")).to_contain_text("50% is chance")

    open_tab(page, "Training curves")
    expect(page.locator("#curves-notes")).to_contain_text("million tokens")

    open_tab(page, "Parameters")
    said = page.locator("#count-said")
    expect(page.locator("#count-notes")).to_contain_text("11,813,810")
    page.get_by_role("button", name="Nothing shared").click()
    expect(said).to_contain_text("89,780,402")
    layers = page.get_by_label("Layers L", exact=True)
    expect(layers).to_have_value("12")
    layers.fill("-3")
    page.keyboard.press("Tab")
    expect(page.locator(".notice[role=alert]")).to_contain_text("layers must be a whole number")
    expect(said).to_contain_text("89,780,402")
