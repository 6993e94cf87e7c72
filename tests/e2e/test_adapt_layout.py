"""Fine-tune and Inside ΔW on screens of every size, light and dark."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.visiting import SIZES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e

FINETUNE_TABS = ("Train", "Try it", "Compare all", "Runs", "Merge and take home", "Metrics")
PRESSED_FIRST = "Merge and take home"
"""The tab that draws nothing before its button is pressed."""

DELTA_TABS = ("Spectrum", "Compare two runs", "Amplification", "Rank sweep")

DRAWN = """() => [...document.querySelectorAll('[role=tabpanel] [data-drawn]')].some((one) => one.getClientRects().length)"""
SETTLED = """() => new Promise((done) => {
  const size = () => [document.documentElement.scrollWidth, document.documentElement.scrollHeight].join();
  const look = (last, same) => (same > 20 ? done() : requestAnimationFrame(() => look(size(), size() === last ? same + 1 : 0)));
  look("", 0);
})"""
"""What was unfolded has its size: the same for twenty frames."""


PAGES = [("finetune", "#run-curves", FINETUNE_TABS), ("delta", "#spectrum-figure", DELTA_TABS)]


@pytest.mark.parametrize(("path", "figure", "tabs"), PAGES)
def test_no_tab_is_wider_than_the_screen_and_dark_pages_have_dark_figures(
    visit: Visit, path: str, figure: str, tabs: tuple[str, ...]
) -> None:
    page = visit.page
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 1440, "height": 900})
    visit.open(path, figure)
    stroke = page.evaluate(f"getComputedStyle(document.querySelector('{figure} .js-line')).stroke")
    assert stroke == "rgb(86, 180, 233)", "the dark palette's first colour"
    for size in SIZES:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        wide = {tab: width_with(page, tab) for tab in tabs}
        assert max(wide.values()) <= size[0], wide


def width_with(page: Any, tab: str) -> float:
    """Of the page with a tab open and all its parts unfolded."""
    open_tab(page, tab)
    if tab != PRESSED_FIRST:
        page.wait_for_function(DRAWN)
    folded = page.locator("[role=tabpanel]:visible button.label-wrap:not(.open)")
    while folded.count():
        folded.first.click()
    page.evaluate(SETTLED)
    return width_of(page)
