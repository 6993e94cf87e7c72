"""What leads from page to page: a sentence that goes along, links at the foot, the map, the keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

SENTENCE = "The old violin was played by a girl from Prague."
BLANKED = "The old [MASK] was played by a girl from Prague."
MOST_STOPS = 8
FOCUSED = (
    "(() => { const one = document.activeElement; return [one.tagName, one.innerText || one.ariaLabel || '']; })()"
)

# The page by its name in the menu, the box, and what stands in it.
ON_THE_WAY = (
    ("Inputs", "textarea", SENTENCE),
    ("Directions", "textarea", SENTENCE),
    ("Replaced", "textarea", SENTENCE),
    ("Attention", "textarea", SENTENCE),
    ("Attribution", "textarea", BLANKED),
    ("Generation", "textarea", "The old"),
    ("Masking", "textarea", SENTENCE),
)


def typed(visit: Visit) -> None:
    """A sentence on the masking page, with one word hidden."""
    visit.open("masking", "#fill-figure")
    box = visit.page.locator("textarea:visible").first
    box.fill(SENTENCE)
    box.press("Enter")
    visit.page.locator("button.chip:visible", has_text="violin").click()
    expect(visit.page).to_have_url(re.compile("also_mask=3"))


def test_a_sentence_goes_along_through_the_menu_and_a_page_s_own_is_one_press_away(
    visit: Visit,
) -> None:
    typed(visit)
    for title, box, text in ON_THE_WAY:
        visit.turn_to(title)
        expect(visit.page.locator(f"{box}:visible").first).to_have_value(text)
        expect(visit.page.locator("div.block.address-remark")).to_contain_text("Your sentence from Masking.")
        assert visit.page.locator(".notice-place .notice").count() == 0
    visit.turn_to("Context")
    expect(visit.page.locator("div.block.address-remark")).to_contain_text("is in “Logit lens”")
    visit.tab("Logit lens")
    expect(visit.page.locator("textarea:visible").first).to_have_value(BLANKED)
    visit.turn_to("Inputs")
    visit.page.get_by_role("button", name="This page's example").click()
    expect(visit.page.locator("div.block.address-remark")).not_to_contain_text("Your sentence")
    expect(visit.page.locator("textarea:visible").first).not_to_have_value(SENTENCE)
    visit.turn_to("Attention")
    expect(visit.page.locator("textarea:visible").first).to_have_value(SENTENCE)


def test_the_foot_leads_to_other_pages_with_the_sentence_and_to_the_next_question(
    visit: Visit,
) -> None:
    typed(visit)
    foot = visit.page.locator("div.block.foot:visible")
    foot.get_by_role("link", name="Attribution").click()
    expect(visit.page.locator("textarea:visible").first).to_have_value(BLANKED)
    expect(visit.page.locator("div.block.address-remark")).not_to_contain_text("Your sentence")
    visit.page.locator("div.block.foot:visible .lead a").click()
    expect(visit.page.get_by_role("tab", name="A fine-tuned run")).to_have_attribute("aria-selected", "true")
    visit.page.locator("div.block.foot:visible .of-run").get_by_role("link", name="Pruning").click()
    expect(visit.page).to_have_url(re.compile(r"/pruning\?run=example"))


def test_the_map_finds_a_tab_by_what_can_be_set_there(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.keyboard.press("Control+k")
    box = visit.page.get_by_role("searchbox")
    expect(box).to_be_focused()
    box.fill("no such thing")
    expect(visit.page.locator(".map-none")).to_contain_text("Nothing here has “no such thing”")
    box.fill("temperature losses")
    visit.page.locator("dialog .map-page").get_by_role("link", name="Losses").click()
    expect(visit.page).to_have_url(re.compile("distillation.*#tab=losses"))
    expect(visit.page.get_by_role("tab", name="Losses")).to_have_attribute("aria-selected", "true")
    visit.page.get_by_role("button", name="Find a page").click()
    expect(visit.page.get_by_role("searchbox")).to_be_focused()
    visit.page.keyboard.press("Escape")
    expect(visit.page.locator("dialog.map-dialog")).to_be_hidden()


def stops(page: Page, most: int) -> list[list[str]]:
    """What has the focus after each press of Tab."""
    found = []
    for _ in range(most):
        page.keyboard.press("Tab")
        found.append(page.evaluate(FOCUSED))
    return found


def test_the_keyboard_reaches_the_first_control_soon_and_never_falls_off(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    found = stops(visit.page, 2 * MOST_STOPS)
    assert "TEXTAREA" in [tag for tag, _ in found[:MOST_STOPS]], found
    assert "BODY" not in [tag for tag, _ in found], found


def test_arrows_move_between_chapters_and_between_tabs(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    visit.page.locator(".chapter-menu", has_text="Learn").focus()
    visit.page.keyboard.press("ArrowRight")
    expect(visit.page.locator(".chapter-menu", has_text="Family")).to_be_focused()
    visit.page.keyboard.press("ArrowDown")
    expect(visit.page.locator(".chapter-labs a", has_text="RoBERTa")).to_be_focused()
    visit.page.get_by_role("tab", name="Fill the blank").focus()
    visit.page.keyboard.press("ArrowRight")
    expect(visit.page.get_by_role("tab", name="Several blanks")).to_be_focused()
    expect(visit.page).to_have_url(re.compile("#tab=several$"))
