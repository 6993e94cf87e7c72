"""Figures without a mouse: a figure is one stop for Tab, and the arrows move on it from cell to cell."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

DATA = """(selector) => {
  const { x, y, z } = document.querySelector(selector).data.find((one) => one.type === "heatmap");
  return [x, y, z];
}"""
INSIDE = """(selector) => {
  const [ring, cells] = [".cell-ring", ".plot .heatmaplayer"].map((part) => document.querySelector(`${selector} ${part}`))
    .map((one) => one.getBoundingClientRect());
  return ring.width > 5 && ring.left > cells.left - 9 && ring.right < cells.right + 9
    && ring.top > cells.top - 9 && ring.bottom < cells.bottom + 9;
}"""
RING = "(selector) => getComputedStyle(document.querySelector(`${selector} .cell-ring`)).boxShadow"


def reached(page: Page, figure: str) -> Any:
    """The figure's ring, reached by one press of Tab from what stands before it and left by the next."""
    ring = page.locator(f"{figure} .cell-ring")
    page.locator(f"{figure} .saves button").first.focus()
    page.keyboard.press("Shift+Tab")
    expect(ring).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(ring).not_to_be_focused()
    page.keyboard.press("Tab")
    expect(ring).to_be_focused()
    return ring


def assert_at(page: Page, figure: str, said: str) -> None:
    """The cell is said aloud, shown as the pointer would be shown it, and ringed."""
    expect(page.locator(f"{figure} .cell-said")).to_have_text(said)
    assert "".join(page.locator(f"{figure} .hoverlayer text.nums").all_text_contents()) == said
    assert page.evaluate(INSIDE, figure)


def heatmap(visit: Visit, tab: str, figure: str) -> Any:
    """The columns, the rows and the values of a tab's heatmap, as Plotly has them."""
    visit.tab(tab)
    visit.page.wait_for_selector(f"{figure} .plot[data-drawn]")
    return visit.page.evaluate(DATA, f"{figure} .plot")


def test_arrows_move_over_all_heads_and_enter_opens_one(visit: Visit) -> None:
    page, figure = visit.page, "#grid-figure"
    visit.open("attention", "#attention-figure")
    heads, layers, z = heatmap(visit, "All heads", figure)

    def said(layer: int, head: int) -> str:
        return f"layer {layers[layer]}, head {heads[head]}: {z[layer][head]:.2f}"

    reached(page, figure)
    assert_at(page, figure, said(0, 0))
    for key, cell in (
        ("ArrowRight", (0, 1)),
        ("ArrowDown", (1, 1)),
        ("End", (1, len(heads) - 1)),
        ("ArrowRight", (1, len(heads) - 1)),
        ("ArrowDown", (2, len(heads) - 1)),
        ("Home", (2, 0)),
        ("ArrowUp", (1, 0)),
        ("ArrowRight", (1, 1)),
    ):
        page.keyboard.press(key)
        assert_at(page, figure, said(*cell))
    light = page.evaluate(RING, figure)
    page.evaluate("document.body.classList.add('dark')")
    page.wait_for_function(f"(light) => ({RING})('{figure}') !== light", arg=light)
    page.keyboard.press("Escape")
    expect(page.locator(f"{figure} .cell-ring")).not_to_be_focused()
    expect(page.locator(f"{figure} .hoverlayer text")).to_have_count(0)
    page.keyboard.press("Tab")
    expect(page.locator(f"{figure} .saves button").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert_at(page, figure, said(1, 1))
    page.keyboard.press("Enter")
    expect(page.locator("#attention-said")).to_contain_text("Layer 1, head 1")


def test_a_guess_of_the_lens_says_its_layer_its_rank_and_how_likely_it_is(visit: Visit) -> None:
    page, figure = visit.page, "#lens-figure"
    visit.open("context", "#context-figure")
    ranks, layers, z = heatmap(visit, "Logit lens", figure)
    reached(page, figure)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    said = page.locator(f"{figure} .cell-said").inner_text()
    assert said.startswith(f"layer {layers[1]}, rank {ranks[1]}: ")
    assert said.endswith(f" {z[1][1]:.4%}")


def test_bars_and_points_are_reached_alike(visit: Visit) -> None:
    page, figure = visit.page, "#fill-figure"
    visit.open("masking", figure)
    reached(page, figure)
    page.keyboard.press("ArrowDown")
    said = page.locator(f"{figure} .cell-said")
    expect(said).to_contain_text("%")
    second = page.evaluate("document.querySelector('#fill-figure .plot').data.find((one) => one.type === 'bar').x[1]")
    expect(said).to_contain_text(f"{second:.4%}")
