"""Without a mouse and without sight; what axe-core finds on every tab is in test_every_tab."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import AXE, EVERY_RULE, FINDINGS, STILL, findings, resize
from tests.e2e.visiting import SIZES, Visit

pytestmark = pytest.mark.e2e


MOVES = """() => [...document.querySelectorAll("*")].filter((one) => {
  const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(one);
  return !/^0s(, 0s)*$/.test(transitionDuration) || animationName !== "none" || scrollBehavior !== "auto";
}).map((one) => one.outerHTML.slice(0, 100))"""
"""What would not come at once."""

RUNNING = "document.getAnimations().filter((one) => one.playState === 'running').length"


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


def test_a_screen_reader_is_told_in_words_that_an_answer_is_there(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    said = visit.page.locator("[role=status].sr-only")
    expect(said.filter(has_text=re.compile("^Done$"))).to_have_count(1)
    expect(said.filter(has_text="common.")).to_have_count(0)


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


@pytest.mark.parametrize(("path", "figure"), [("masking", "#fill-figure"), ("distillation", "#soft-figure")])
def test_nothing_moves_for_one_who_asks_for_that(browser: Any, server: str, path: str, figure: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    visit = Visit(context.new_page(), server)
    visit.open(path, figure)
    assert visit.page.evaluate(MOVES) == []
    visit.page.locator("button.sm:visible").first.click()  # while it is computed, too
    assert visit.page.evaluate(RUNNING) == 0
    assert visit.page.evaluate(MOVES) == []
    context.close()
    visit.assert_unharmed()


def test_what_is_unfolded_keeps_nobody_out(visit: Visit) -> None:
    """The scripts, in Gradio's colours and its own scrolling parts, and rows of tokens that are higher than their place."""
    page = visit.page
    visit.open("masking", "#fill-figure")
    visit.tab("How likely?")
    page.wait_for_selector("#score-figure .plot[data-drawn]")
    for name in ("Data", "Copy as Python"):
        page.locator("[role=tabpanel]:visible").get_by_role("button", name=name).first.click()
    page.wait_for_selector(".cm-line span:visible")
    page.evaluate(AXE)
    page.add_style_tag(content=STILL)
    resize(page, *SIZES[0])
    assert findings(page, whole=False) == []
    resize(page, *SIZES[1])
    assert page.evaluate(FINDINGS, [EVERY_RULE, False]) == [], "on a projector"
