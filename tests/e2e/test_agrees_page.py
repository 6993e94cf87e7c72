"""The page on published figures, and the navigation's menus, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, width_of

pytestmark = pytest.mark.e2e


def test_figures_are_filtered_and_reasons_stand_beside_differences(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1440, "height": 900})
    visit.open("agrees", "#agrees-figure")
    page, said, rows = visit.page, visit.page.locator("#agrees-said"), visit.page.locator("#agrees-rows")
    expect(said).to_contain_text(re.compile(r"Of 1\d\d figures, computed again"))
    assert page.locator(".top nav").evaluate("(nav) => nav.offsetHeight") <= 60, "all pages stand in one line"
    bert = rows.locator("tr.differs", has_text="BERT-large, parameters")
    expect(bert).to_contain_text("340M")
    expect(bert).to_contain_text("Rounded to tens")
    folded = rows.locator("summary", has_text="LoRA")
    expect(rows.get_by_text("GPT-3, BitFit")).to_be_hidden()
    folded.press("Enter")
    expect(rows.get_by_text("GPT-3, BitFit")).to_be_visible()

    before = visit.draws("#agrees-figure")
    page.get_by_role("button", name="LoRA's counts").click()
    visit.wait_redrawn("#agrees-figure", before)
    expect(rows.locator("summary")).to_have_count(1)
    expect(rows.locator("tr.differs", has_text="RoBERTa-base, full fine-tuning")).to_contain_text("125.0M")
    before = visit.draws("#agrees-figure")
    page.get_by_label("those that differ").check()
    visit.wait_redrawn("#agrees-figure", before)
    expect(rows.locator("tr:has(td):not(.differs)")).to_have_count(0)
    before = visit.draws("#agrees-figure")
    page.get_by_label("how far apart they are").check()
    visit.wait_redrawn("#agrees-figure", before)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width


@pytest.mark.parametrize(("width", "height"), [(1024, 768), (390, 844)])
def test_every_page_is_reached_from_a_menu_by_mouse_and_by_keyboard(visit: Visit, width: int, height: int) -> None:
    page = visit.page
    page.set_viewport_size({"width": width, "height": height})
    visit.open("agrees", "#agrees-figure")
    links = page.locator(".chapter-labs a")
    assert links.count() >= 16
    assert [link.is_visible() for link in links.all()] == [False] * links.count()
    tops = page.locator(".top nav .chapter-menu").evaluate_all("menus => menus.map((menu) => menu.offsetTop)")
    assert len(set(tops)) == 1, "the chapters stand on one line"

    for menu in page.locator(".chapter-menu").all():
        menu.click()
        expect(menu).to_have_attribute("aria-expanded", "true")
        shown = [link for link in links.all() if link.is_visible()]
        assert shown
        for link in shown:
            expect(link).to_be_in_viewport(ratio=1)
        assert page.locator(".chapter-menu[aria-expanded=true]").count() == 1
        assert width_of(page) <= width
    page.mouse.click(width / 2, height - 40)
    expect(page.locator(".chapter-menu[aria-expanded=true]")).to_have_count(0)

    menu = page.get_by_role("button", name="Learn")
    menu.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_contain_text("Masking")
    page.keyboard.press("Escape")
    expect(menu).to_be_focused()
    expect(menu).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    for _ in range(2):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#pair-figure .plot[data-drawn]")
    expect(page.locator(".chapter-labs a[aria-current=page]")).to_contain_text("Pairs")
