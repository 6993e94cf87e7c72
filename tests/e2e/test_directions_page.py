"""The directions page in a real browser: one blank, fifty sentences, why not the next word."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.e2e.visiting import Visit

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def directions(visitor: Visit) -> Visit:
    """One page for both tests."""
    visitor.open("directions", "#directions-figure")
    return visitor


def test_the_fifty_come_by_themselves_and_the_answer_is_in_view(directions: Visit) -> None:
    page = directions.page
    directions.tab("Fifty sentences")
    expect(page.locator("#fifty-said")).to_contain_text("of 50 sentences")
    directions.tab("Why not the next word?")
    said = page.locator("#answer-said")
    expect(said).to_contain_text("exactly 0")
    page.click("#answer-chips button:has-text('table')")
    expect(said).to_contain_text("would have to say “table”")
    directions.tab("Encoder, decoder, both")
    expect(page.locator("#stacks svg")).to_have_count(3)
    tops = {figure.bounding_box()["y"] for figure in page.locator("#stacks figure").all()}
    assert len(tops) == 1, "three in a row on a projector"
    assert page.locator("#stacks text").first.evaluate("text => getComputedStyle(text).fontSize") == "16px"


def test_a_pressed_word_is_hidden_and_the_triangles_follow(directions: Visit) -> None:
    directions.tab("One blank")
    directions.page.evaluate("scrollTo(0, 0)")
    page, said = directions.page, directions.page.locator("#directions-said")
    expect(said).to_contain_text("From both sides bert-small gives “are”")
    page.wait_for_selector("#sight-figure .plot[data-drawn]")
    text, figure = (page.locator(part).bounding_box() for part in ("#directions-input", "#directions-figure .plot"))
    assert text is not None
    assert figure is not None
    assert figure["y"] + figure["height"] <= 768, "the fold cuts the figure"

    sight = page.locator("#sight-said")
    expect(sight).to_contain_text("Filled cells may be looked at")
    expect(page.get_by_label("range slider for Layer")).to_be_hidden()
    before = directions.draws("#sight-figure")
    page.get_by_label("the weights of one layer").check()
    directions.wait_redrawn("#sight-figure", before)
    expect(page.locator("#sight-notes")).to_contain_text("most of all")
    expect(page.get_by_label("range slider for Layer")).to_be_visible()

    before = directions.draws("#sight-figure")
    page.click("#directions-chips button:has-text('keys')")
    expect(said).to_contain_text("gives “keys”")
    directions.wait_redrawn("#sight-figure", before)
    page.get_by_role("button", name="A word in pieces").click()
    expect(page.get_by_text("is 2 pieces to bert-small")).to_be_visible()

    box = page.get_by_label("Sentence").first
    box.fill("Snow <img src=x onerror=alert(1)> fell all night.")
    box.press("Enter")
    expect(page.locator("#directions-chips")).to_contain_text("onerror")
    box.fill("")
    box.press("Enter")
    expect(page.locator(".notice[role=alert]")).to_contain_text("Type a sentence first")
    fold = page.locator(".folds:visible").first
    fold.get_by_role("button", name="Data").click()
    expect(fold.get_by_role("grid")).to_contain_text("gpt2-mini")
