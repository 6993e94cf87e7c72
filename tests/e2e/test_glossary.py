"""Technical words are explained where they stand, to the mouse, the keyboard and a screen reader."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.glossary import ENTRIES
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e

SAYS = {entry.word.lower(): entry.says for entry in ENTRIES}


def test_every_marked_word_has_its_sentence_and_is_marked_once(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    terms = visit.page.locator("[role=tabpanel]:visible abbr.term")
    expect(terms.first).to_be_visible()
    visit.page.get_by_role("button", name="Why: the formula and the paper").first.click()
    expect(visit.page.locator(".md abbr.term").first).to_be_visible()
    marked = [(term.inner_text().lower(), term.get_attribute("data-says")) for term in terms.all()]
    assert {"entropy", "nats"} <= {word for word, _ in marked}
    assert all(SAYS[word] == says for word, says in marked)
    outside = visit.page.locator("[role=tabpanel]:visible .measures abbr.term").all_inner_texts()
    assert len(outside) == len(set(outside))


def test_a_word_is_explained_when_it_is_focused_and_no_longer_after_escape(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    term = visit.page.locator("abbr.term", has_text="nats").first
    note = visit.page.get_by_role("tooltip")
    term.focus()
    expect(note).to_have_text(SAYS["nats"])
    expect(term).to_have_attribute("aria-describedby", "term-note")
    visit.page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    term.hover()
    expect(note).to_be_visible()
    visit.page.mouse.move(0, 0)
    expect(note).to_be_hidden()


def test_a_sentence_that_is_computed_anew_is_marked_anew(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    facts = visit.page.locator(".measures:visible").first
    expect(facts.locator("abbr.term").first).to_be_visible()
    before = visit.draws("#fill-figure")
    visit.page.click("#fill-chips button:has-text('cabinet')")
    visit.wait_redrawn("#fill-figure", before)
    expect(facts).to_contain_text("hidden token cabinet")
    expect(facts.locator("abbr.term", has_text="nats").first).to_be_visible()
