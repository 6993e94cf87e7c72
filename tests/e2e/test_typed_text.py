"""What a visitor types stays text: no element of a page, or of a frame in it, is made of it."""

from __future__ import annotations

import pytest

from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

PAGES = ("attention", "finetune", "replaced", "pretrain", "generation", "distillation", "directions")

TYPED = "a <img src=x onerror='window.hacked=1'> film with [MASK]"

MADE = "() => [...document.querySelectorAll('img')].filter((one) => one.getAttribute('src') === 'x').map((one) => one.outerHTML)"

WATCH = """() => {
  window.made = [];
  const note = (one) => one.matches?.("img[src=x]") && window.made.push(one.outerHTML);
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((one) => {
    note(one);
    one.querySelectorAll?.("img[src=x]").forEach(note);
  }))).observe(document, { childList: true, subtree: true });
}"""
"""Also what stands there for a moment."""

FIELDS = "textarea:visible, input[type=text]:visible"
PICKERS = "#model-picker, #run-picker"
AT_REST = """() => ![...document.querySelectorAll(".block.figure")].some((one) => one.checkVisibility()
  && (one.dataset.waiting || one.dataset.awaited !== undefined))"""


@pytest.mark.parametrize("slug", PAGES)
def test_it_makes_no_element_on_any_tab(visit: Visit, slug: str) -> None:
    page = visit.page
    page.goto(f"{visit.address}/{slug}")
    page.wait_for_function("() => document.querySelector('.plot[data-drawn], [role=tab]')")
    page.evaluate(WATCH)
    for name in [tab.inner_text() for tab in page.get_by_role("tab").all() if tab.is_visible()] or [""]:
        if name:
            open_tab(page, name)
        typed = 0
        for field in page.locator(FIELDS).all():
            if field.evaluate("(field, pickers) => !!field.closest(pickers)", PICKERS) or not field.is_editable():
                continue
            field.fill(TYPED)
            field.press("Enter")
            typed += 1
        if not typed:
            continue
        page.wait_for_timeout(500)
        page.wait_for_function(AT_REST, polling=200)
        found = [made for frame in page.frames for made in frame.evaluate(MADE)]
        assert found == [], name
        assert page.evaluate("window.made") == [], name
        assert page.evaluate("window.hacked") is None, name
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p><img src=x></p>')")
    page.wait_for_function("() => window.made.length === 1")
