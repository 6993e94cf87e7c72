"""Technical words are explained where they stand, to the mouse, the keyboard and a screen reader."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from explorer.glossary import ENTRIES
from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


def says(slug: str) -> dict[str, str]:
    """What each word means on a page."""
    return {entry.word: entry.says for entry in ENTRIES if not entry.pages or slug in entry.pages}


def marked(visit: Visit) -> list[str]:
    """The words that are marked on what is in view, which has been marked if one is."""
    visit.page.wait_for_function(
        "() => [...document.querySelectorAll('abbr.term')].some((term) => term.checkVisibility())"
    )
    visit.page.wait_for_timeout(1000)
    return [str(term.get_attribute("data-word")) for term in visit.page.locator("abbr.term:visible").all()]


def test_every_marked_word_has_its_sentence_and_is_marked_once(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    assert {"word piece", "token", "entropy", "nats"} <= set(marked(visit))
    visit.page.get_by_role("button", name="Why: the formula and the paper").first.click()
    expect(visit.page.locator(".md abbr.term").first).to_be_visible()
    words = marked(visit)
    assert {"head", "vocabulary", "softmax"} <= set(words)
    assert len(words) == len(set(words))
    for term in visit.page.locator("abbr.term:visible").all():
        assert term.get_attribute("data-says") == says("masking")[str(term.get_attribute("data-word"))]


@pytest.mark.parametrize(
    ("slug", "met"),
    [
        ("", {"word piece"}),
        ("attention", {"attention", "head", "layer"}),
        ("finetune", {"LoRA", "accuracy", "parameters"}),
    ],
)
def test_a_word_is_marked_once_on_a_page(visit: Visit, slug: str, met: set[str]) -> None:
    visit.page.goto(f"{visit.address}/{slug}")
    visit.page.wait_for_selector(".plot[data-drawn]")
    for word in met:
        expect(visit.page.locator(f"abbr.term[data-word='{word}']:visible")).to_have_count(1)
    words = marked(visit)
    assert len(words) == len(set(words))


def test_a_word_of_a_visitors_text_is_not_marked(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    before = visit.draws("#fill-figure")
    visit.page.locator("[role=tabpanel]:visible textarea").first.fill("The [MASK] is a token of love.")
    visit.page.keyboard.press("Enter")
    visit.wait_redrawn("#fill-figure", before)
    before = visit.draws("#fill-figure")
    visit.page.click("#fill-chips button:has-text('token')")
    visit.wait_redrawn("#fill-figure", before)
    said = visit.page.locator(".said:visible").first
    expect(said).to_contain_text("“token”")
    assert "token" in marked(visit)  # in the measures, where it is the app's own word
    assert said.locator("strong abbr").count() == 0


def test_a_word_is_explained_when_it_is_focused_and_no_longer_after_escape(visit: Visit) -> None:
    visit.open("masking", "#fill-figure")
    term = visit.page.locator("abbr.term", has_text="nats").first
    note = visit.page.get_by_role("tooltip")
    term.focus()
    expect(note).to_have_text(says("masking")["nats"])
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


def test_a_note_stays_within_the_page(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1024, "height": 768})
    visit.open("", "#home-figure")
    visit.page.locator("abbr.term:visible", has_text="word pieces").hover()
    note = visit.page.get_by_role("tooltip")
    expect(note).to_be_visible()
    box = note.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= visit.page.evaluate("document.body.clientWidth")
