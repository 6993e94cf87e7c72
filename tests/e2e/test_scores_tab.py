"""The generation page in a real browser: the worked example, pasted texts, and one hypothesis taken apart."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import SIZES, TWO_FRAMES, Visit, open_tab, width_of

pytestmark = pytest.mark.e2e

ONE_LINE = 60
"""Pixels of a navigation that has its chapters' names above one line of labs."""


def test_texts_are_scored_and_one_is_taken_apart(visit: Visit) -> None:
    visit.open("generation", "#next-figure")
    open_tab(visit.page, "Scores")
    visit.page.wait_for_selector("#scores-figure .plot[data-drawn]")
    page = visit.page
    said, apart = page.locator("#scores-notes"), page.locator("#parts-said")
    expect(said).to_contain_text("5 hypotheses against 10 references: BLEU 47.9")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(TWO_FRAMES)
        assert width_of(page) <= width
        if width == 1024:
            assert page.locator(".top nav").evaluate("(nav) => nav.offsetHeight") <= ONE_LINE
    page.set_viewport_size({"width": 1024, "height": 768})

    expect(page.get_by_role("tab", name="One sentence's scores")).to_be_visible()
    open_tab(page, "One sentence's scores")
    page.wait_for_selector("#parts-figure .plot[data-drawn]")
    expect(apart).to_contain_text("BLEU 71.9")
    before = visit.draws("#parts-figure")
    page.locator("#parts-metric").get_by_text("METEOR", exact=True).click()
    expect(apart).to_contain_text("METEOR 52.8")
    visit.wait_redrawn("#parts-figure", before)
    page.locator("#parts-sentence input[type=number]").fill("5")
    expect(apart).not_to_contain_text("METEOR 52.8")
    open_tab(page, "Scores")
    page.locator("#scores-hypotheses textarea").fill("The <b>Fig</b> is a pub.\nA quiet place.")
    page.locator("#scores-references textarea").fill("The <b>Fig</b> is a small pub.\n\nIt is a quiet place.\nQuiet.")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(said).to_contain_text("2 hypotheses against 3 references")
    open_tab(page, "One sentence's scores")
    expect(page.locator("#parts-notes")).to_contain_text("With reference 1")
    expect(page.locator("#parts-sentence input[type=number]")).to_have_value("2")
    assert page.locator("#parts-formulas b, #parts-said b").count() == 0
    open_tab(page, "Scores")
    page.locator("#scores-references textarea").fill("Only one group.")
    page.get_by_role("button", name="Score", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("2 hypotheses and 1 group of references")
    expect(said).to_contain_text("2 hypotheses against 3 references")
    visit.assert_unharmed()
