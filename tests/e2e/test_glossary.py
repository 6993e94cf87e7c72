"""Technical words are explained where they stand, to the mouse, the keyboard and a screen reader."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.glossary import ENTRIES
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def masking(visitor: Visit) -> Visit:
    """One page for all tests."""
    visitor.open("masking", "#fill-figure")
    return visitor


SAYS = {entry.word.lower(): entry.says for entry in ENTRIES}


def test_a_word_is_explained_when_it_is_focused_and_no_longer_after_escape(masking: Visit) -> None:
    term = masking.page.locator("abbr.term", has_text="nats").first
    note = masking.page.get_by_role("tooltip")
    term.focus()
    expect(note).to_have_text(SAYS["nats"])
    expect(term).to_have_attribute("aria-describedby", "term-note")
    masking.page.keyboard.press("Escape")
    expect(note).to_be_hidden()
    term.hover()
    expect(note).to_be_visible()
    masking.page.mouse.move(0, 0)
    expect(note).to_be_hidden()


def test_a_sentence_that_is_computed_anew_is_marked_anew(masking: Visit) -> None:
    facts = masking.page.locator(".measures:visible").first
    expect(facts.locator("abbr.term").first).to_be_visible()
    before = masking.draws("#fill-figure")
    masking.page.click("#fill-chips button:has-text('cabinet')")
    masking.wait_redrawn("#fill-figure", before)
    expect(facts).to_contain_text("hidden token cabinet")
    expect(facts.locator("abbr.term", has_text="nats").first).to_be_visible()


def test_every_marked_word_has_its_sentence_and_is_marked_once(masking: Visit) -> None:
    terms = masking.page.locator("[role=tabpanel]:visible abbr.term")
    expect(terms.first).to_be_visible()
    masking.page.get_by_role("button", name="Why: the formula and the paper").first.click()
    expect(masking.page.locator(".md abbr.term").first).to_be_visible()
    marked = [(term.inner_text().lower(), term.get_attribute("data-says")) for term in terms.all()]
    assert {"entropy", "nats"} <= {word for word, _ in marked}
    assert all(SAYS[word] == says for word, says in marked)
    outside = masking.page.locator("[role=tabpanel]:visible .measures abbr.term").all_inner_texts()
    assert len(outside) == len(set(outside))
