"""Fine-tune and ΔW on screens of every size, light and dark."""

from __future__ import annotations

import pytest

from tests.e2e.visiting import SIZES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e

FINETUNE_TABS = ("Train", "Try it", "Compare all", "Sweep", "Runs", "Merge and take home", "Metrics")
PRESSED_FIRST = "Merge and take home"
"""The tab that draws nothing before its button is pressed."""

DELTA_TABS = ("Beside W", "Spectrum", "Compare two runs", "Amplification", "Forgetting")

PHONE = SIZES[-1][0]

DRAWN = """() => [...document.querySelectorAll('[role=tabpanel] [data-drawn]')].some((one) => one.getClientRects().length)"""
SETTLED = """() => new Promise((done) => {
  const size = () => [document.documentElement.scrollWidth, document.documentElement.scrollHeight].join();
  const look = (last, same) => (same > 20 ? done() : requestAnimationFrame(() => look(size(), size() === last ? same + 1 : 0)));
  look("", 0);
})"""
"""What was unfolded has its size: the same for twenty frames."""


@pytest.mark.parametrize(
    ("path", "figure", "tabs"),
    [("finetune", "#run-curves", FINETUNE_TABS), ("delta", "#whole-figure", DELTA_TABS)],
)
def test_no_tab_is_wider_than_the_screen(visit: Visit, path: str, figure: str, tabs: tuple[str, ...]) -> None:
    """Each tab on a phone, where it is opened, and then on larger screens."""
    page, wide = visit.page, {}
    for tab in tabs:
        for width, height in reversed(SIZES):
            page.set_viewport_size({"width": width, "height": height})
            if not wide:
                visit.open(path, figure)
            page.evaluate(SETTLED)
            if width == PHONE:
                open_tab(page, tab)
                if tab != PRESSED_FIRST:
                    page.wait_for_function(DRAWN)
                folded = page.locator("[role=tabpanel]:visible button.label-wrap:not(.open)")
                while folded.count():
                    folded.first.click()
            page.evaluate(SETTLED)
            wide[tab, width] = width_of(page)
    assert all(found <= width for (_, width), found in wide.items()), wide


@pytest.mark.parametrize(("path", "figure"), [("finetune", "#run-curves"), ("delta", "#whole-figure")])
def test_dark_pages_have_dark_figures(visit: Visit, path: str, figure: str) -> None:
    visit.page.emulate_media(color_scheme="dark")
    visit.open(path, figure)
    drawn = visit.page.evaluate(
        f"[...document.querySelectorAll('{figure} .js-line')].map((line) => getComputedStyle(line).stroke)"
    )
    assert "rgb(86, 180, 233)" in drawn, "the dark palette's first colour"
