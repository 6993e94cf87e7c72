"""What a visitor types stays text: no element of a page, or of a frame in it, is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.e2e.looks import SAYS_SO
from tests.e2e.tabs import Tab
from tests.e2e.visiting import open_tab

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


def assert_stays_text(page: Any, tabs: Sequence[Tab]) -> None:
    """In every field of every tab, on a page that was looked at before."""
    page.evaluate(WATCH)
    for tab in tabs:
        if tab.name:
            open_tab(page, tab.name)
            page.wait_for_timeout(SAYS_SO)  # and fields of the page that this tab doesn't need are gone
            page.wait_for_function(AT_REST, polling=200)
        typed = 0
        for field in page.locator(FIELDS).all():
            if field.evaluate("(field, pickers) => !!field.closest(pickers)", PICKERS) or not field.is_editable():
                continue
            typed += 1
            if field.input_value() != TYPED:  # one that several tabs share was typed into before, and asked for
                field.fill(TYPED)
                field.press("Enter")
        if not typed:
            continue
        page.wait_for_timeout(SAYS_SO)
        page.wait_for_function(AT_REST, polling=200)
        found = [made for frame in page.frames for made in frame.evaluate(MADE)]
        assert found == [], tab
        assert page.evaluate("window.made") == [], tab
        assert page.evaluate("window.hacked") is None, tab
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p><img src=x></p>')")
    page.wait_for_function("() => window.made.length === 1")
