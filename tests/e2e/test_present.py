"""What is shown to a class: large, alone, and by its address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

LEAST = 20
"""Pixels of a letter that the last row can read."""

SENTENCE = 28

SMALL = """(least) => [...document.querySelectorAll(".gradio-container *")].filter((one) => {
  const says = [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
  return says && one.checkVisibility({ visibilityProperty: true }) && parseFloat(getComputedStyle(one).fontSize) < least;
}).map((one) => one.textContent.trim())"""

ABOVE = "(figure) => document.querySelector(figure).getBoundingClientRect().bottom <= innerHeight"


@pytest.mark.parametrize(
    ("path", "figure"),
    [("masking", "#fill-figure"), ("attention", "#attention-figure"), ("delta#tab=spectrum", "#spectrum-figure")],
)
def test_nothing_is_too_small_and_the_figure_has_the_screen(path: str, figure: str, visit: Visit) -> None:
    page, _, fragment = path.partition("#")
    visit.open(f"{page}#{fragment}{'&' if fragment else ''}present=1", figure)
    said = visit.page.locator("div.block.said:visible").first
    expect(said).to_be_in_viewport()
    assert visit.page.evaluate(SMALL, LEAST) == []
    assert (
        float(said.locator("p, div, span").first.evaluate("(one) => parseFloat(getComputedStyle(one).fontSize)"))
        >= SENTENCE
    )
    assert visit.page.evaluate(ABOVE, figure)
    expect(visit.page.locator(".top nav")).not_to_be_in_viewport()


def test_a_key_turns_it_on_and_off_and_arrows_follow_the_questions(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.keyboard.press("p")
    expect(visit.page).to_have_url(re.compile("present=1"))
    visit.page.keyboard.press("ArrowRight")
    expect(visit.page).to_have_url(re.compile("tab=several&present=1"))
    expect(visit.page.locator("div.block.said:visible").first).to_be_in_viewport()
    visit.page.keyboard.press("ArrowLeft")
    expect(visit.page.locator("#fill-figure")).to_be_visible()
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator(".top nav")).to_be_in_viewport()
    expect(visit.page).not_to_have_url(re.compile("present"))


def test_a_letter_that_is_typed_into_a_text_presents_nothing(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    box = visit.page.locator("textarea:visible").first
    box.focus()
    visit.page.keyboard.type("p")
    expect(box).to_have_value(re.compile("p$"))
    expect(visit.page.locator(".top nav")).to_be_in_viewport()
