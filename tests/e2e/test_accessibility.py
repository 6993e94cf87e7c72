"""axe-core finds nothing on any page and tab that keeps somebody out, in light and in dark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import expect

from explorer.labs import LABS
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

EVERY_RULE = {"rules": {"label-content-name-mismatch": {"enabled": True}}}
"""Of those that axe runs by itself, and one that it has to be asked for."""

CONTRAST = {"runOnly": ["color-contrast"]}
"""What differs between light and dark."""

STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
"""A colour on its way from light to dark is neither."""

FINDINGS = """async ([options, whole]) => (await axe.run(
    {  // what is around the tabs is the same for all of them
      ...(whole ? {} : {include: [...document.querySelectorAll("[role=tabpanel]")].filter((panel) => panel.offsetParent)}),
      exclude: [[".plot svg"]],  // to a screen reader a figure is one image
    },
    {resultTypes: ["violations"], ...options},
  )).violations
  .filter((rule) => rule.impact !== "minor")
  .flatMap((rule) => rule.nodes.map((node) => [rule.id, node.html.slice(0, 200), node.failureSummary]))"""

SHOWN = """() => [...document.querySelectorAll(
  ".plot[data-drawn], .chip, .head-grid, .view-frame, table.quoted, .bench .form, [role=tabpanel] h2, svg[role=img]"
)].some((part) => part.getClientRects().length)"""


@pytest.mark.parametrize("path", ["", *(lab.slug for lab in LABS)])
def test_nobody_is_kept_out(visit: Visit, path: str) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1440, "height": 900})  # every tab has its place
    page.goto(f"{visit.address}/{path}")
    page.wait_for_selector(".plot[data-drawn]")
    page.evaluate(AXE)
    page.add_style_tag(content=STILL)
    looked_at = 0
    for tab in opened_tabs(page):
        page.wait_for_function(SHOWN)
        whole = looked_at == 0
        findings = page.evaluate(FINDINGS, [EVERY_RULE, whole])
        page.evaluate("document.body.classList.toggle('dark')")  # a tab begins as the one before it ends
        findings += page.evaluate(FINDINGS, [CONTRAST, whole])
        assert findings == [], tab
        looked_at += 1
    assert looked_at >= (1 if path in ("", "agrees") else 2)


def opened_tabs(page: Any) -> Any:
    """Opens every tab, and those inside it but the one with which it opens; yields the names, one empty for none."""
    tabs, seen = page.locator("[role=tab]:visible"), set()
    if tabs.count() == 0:
        yield ""
    while names := [name for name in tabs.all_inner_texts() if name not in seen]:
        page.get_by_role("tab", name=names[0], exact=True).click()
        yield names[0]
        seen |= {names[0], *page.locator("[role=tab][aria-selected=true]:visible").all_inner_texts()}


def test_the_keyboard_can_skip_the_links(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.locator("body").press("Tab")
    skip = visit.page.locator(":focus")
    expect(skip).to_have_text("Skip to the page")
    expect(skip).to_be_in_viewport()
    skip.press("Enter")
    expect(visit.page.locator("h1")).to_be_focused()
    visit.page.keyboard.press("Tab")
    expect(visit.page.locator("#model-picker input")).to_be_focused()


def test_a_figure_is_one_image_and_its_buttons_stand_below_it(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.open("masking", "#fill-figure")
    figure = visit.page.locator("#fill-figure .plot")
    assert figure.locator("a, button, [tabindex]").count() == 0
    image = figure.bounding_box()
    for button in visit.page.locator("#fill-figure .saves button").all():
        box = button.bounding_box()
        assert image is not None
        assert box is not None
        assert box["y"] >= image["y"] + image["height"]
