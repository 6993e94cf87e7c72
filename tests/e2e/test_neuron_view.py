"""Queries and keys in a real browser: pressed, read anew, and fed what nobody should type."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.hostile import HOSTILE
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def neurons(visitor: Visit) -> Visit:
    """The tab for all tests; the last two have a model that is drawn quicker."""
    visitor.open("attention", "#attention-figure")
    open_tab(visitor.page, "Queries and keys")
    visitor.page.wait_for_selector("#neuron-figure .plot[data-drawn]")
    return visitor


def said(visit: Visit) -> Locator:
    return visit.page.locator("#neuron-said")


def test_it_opens_with_a_head_that_finds_the_cat(neurons: Visit) -> None:
    expect(said(neurons)).to_contain_text("Layer 4, head 2: “it” looks most at “cat”, with 81.1%")


def test_a_pressed_token_looks_and_another_text_starts_anew(neurons: Visit) -> None:
    neurons.page.click("#neuron-chips button:has-text('mat')")
    expect(said(neurons)).to_contain_text("“mat” looks most at")
    expect(neurons.page.locator("#neuron-chips .chip.mask")).to_contain_text("mat")
    box = neurons.page.get_by_label("Sentence A", exact=True)
    box.fill("Penguins swim.")
    box.press("Enter")
    expect(said(neurons)).to_contain_text("“Penguins” looks most at")
    neurons.page.get_by_role("button", name="it → cat", exact=True).click()
    expect(said(neurons)).to_contain_text("“it” looks most at “cat”")


def test_a_smaller_model_starts_from_its_first_head(neurons: Visit, tiny_model: str) -> None:
    neurons.choose(tiny_model)
    expect(said(neurons)).to_contain_text("Layer 0, head 0")
    expect(neurons.page.locator(".notice-place .notice")).to_have_count(0)


def test_no_text_runs_or_breaks_the_neuron_view(neurons: Visit) -> None:
    for text in HOSTILE:
        before = neurons.draws("#neuron-figure")
        box = neurons.page.get_by_label("Sentence A", exact=True)
        box.fill(text)
        box.press("Enter")
        neurons.wait_redrawn("#neuron-figure", before)
        rows = neurons.page.locator("#neuron-figure .y2tick text")
        assert rows.count() >= 3, text
        assert neurons.page.locator("#neuron-figure b, #neuron-said img, #neuron-chips img").count() == 0
    assert neurons.page.evaluate("window.hacked") is None
