"""Queries and keys in a real browser: pressed, read anew, and fed what nobody should type."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.hostile import HOSTILE
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


def open_neurons(visit: Visit) -> Any:
    visit.page.goto(f"{visit.address}/attention")
    visit.page.wait_for_selector("#attention-figure .plot[data-drawn]")
    open_tab(visit.page, "Queries and keys")
    visit.page.wait_for_selector("#neuron-figure .plot[data-drawn]")
    return visit.page.locator("#neuron-said")


def test_it_opens_with_a_head_that_finds_the_cat(visit: Visit) -> None:
    expect(open_neurons(visit)).to_contain_text("Layer 4, head 2: it looks most at cat, with 81.1%")


def test_a_pressed_token_looks_and_another_text_starts_anew(visit: Visit) -> None:
    said = open_neurons(visit)
    visit.page.click("#neuron-chips button:has-text('mat')")
    expect(said).to_contain_text("mat looks most at")
    expect(visit.page.locator("#neuron-chips .chip.mask")).to_contain_text("mat")
    box = visit.page.get_by_label("Sentence A", exact=True)
    box.fill("Penguins swim.")
    box.press("Enter")
    expect(said).to_contain_text("Penguins looks most at")
    visit.page.get_by_role("button", name="it → cat", exact=True).click()
    expect(said).to_contain_text("it looks most at cat")


def test_a_smaller_model_starts_from_its_first_head(visit: Visit, tiny_model: str) -> None:
    said = open_neurons(visit)
    visit.choose(tiny_model)
    expect(said).to_contain_text("Layer 0, head 0")
    expect(visit.page.locator(".notice-place .notice")).to_have_count(0)


def test_no_text_runs_or_breaks_the_neuron_view(visit: Visit) -> None:
    open_neurons(visit)
    for text in HOSTILE:
        before = visit.draws("#neuron-figure")
        box = visit.page.get_by_label("Sentence A", exact=True)
        box.fill(text)
        box.press("Enter")
        visit.wait_redrawn("#neuron-figure", before)
        rows = visit.page.locator("#neuron-figure .ytick text")
        assert rows.count() >= 3, text
        assert visit.page.locator("#neuron-figure b, #neuron-said img, #neuron-chips img").count() == 0
    assert visit.page.evaluate("window.hacked") is None
