"""The inputs page in a real browser: pieces to press, steps to go through, strips to open, and text that stays text."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import HUB_MODEL
from tests.e2e.visiting import Visit, open_tab

pytestmark = pytest.mark.e2e

HOSTILE = (
    "</script><script>document.title='hacked'</script>",
    "<img src=x onerror=\"document.title='hacked'\">",
    "\"q\" 's' `b` ${1+1} \\ %{y} $x$ \u2028 <b>bold</b> &lt;i&gt;",
)


def rows(page: Any) -> Any:
    return page.locator("#pieces-rows .pieces-row")


def open_page(visit: Visit) -> Any:
    visit.page.goto(f"{visit.address}/inputs")
    expect(rows(visit.page)).to_have_count(3)
    return visit.page


class TestInputs:
    """On one page, each from where the one before it leaves it."""

    @pytest.fixture(scope="class")
    def inputs(self, visitor: Visit) -> Visit:
        open_page(visitor)
        return visitor

    def test_the_page_opens_with_three_methods_and_a_pressed_piece_shows_its_steps(self, inputs: Visit) -> None:
        page = inputs.page
        expect(page.locator("#pieces-notes")).to_contain_text("Nothing is unknown to byte-level-bpe")
        rows(page).nth(1).locator("button.chip", has_text="belie").click()
        expect(page.locator("#cut-word textarea, #cut-word input")).to_have_value("unbelievable")
        blocks = page.locator("#cut-steps .cut")
        expect(blocks).to_have_count(3)
        steps = blocks.nth(1).locator("li")
        last = steps.last
        expect(blocks.nth(1).locator(".stepper")).to_contain_text(f"step {steps.count()} of {steps.count()}")
        blocks.nth(1).get_by_role("button", name="Back").click()
        expect(last).to_have_class("later")
        blocks.nth(1).get_by_role("button", name="Next").click()
        expect(last).not_to_have_class("later")

    def test_typos_are_drawn_anew_and_typed_by_hand(self, inputs: Visit) -> None:
        page = inputs.page
        open_tab(page, "Typos")
        said, typed = page.locator("#typos-notes"), page.get_by_role("textbox", name="With typos")
        expect(said).to_contain_text("“captaib” for “captain”")
        expect(typed).not_to_have_value("")
        page.wait_for_selector("#typos-figure .plot[data-drawn]")
        drawn = typed.input_value()
        page.get_by_role("button", name="Other typos").click()
        expect(typed).not_to_have_value(drawn)
        expect(said).not_to_contain_text(
            "captaib"
        )  # the answer is here: it writes its typos into the box, over what is typed
        expect(page.locator("#typos-rows .chip.random").first).to_be_visible()
        typed.fill("The captain looked at the dark clouds over the harbour and decidde to wait until the next morning.")
        typed.press("Enter")
        expect(said).to_contain_text("1 change (“decidde” for “decided”)")
        fold = page.locator(".folds:visible").first
        fold.get_by_role("button", name="Data").click()
        expect(fold.get_by_role("grid")).to_contain_text("roberta-mini")
        open_tab(page, "Typos, many sentences")
        page.wait_for_selector("#shares-figure .plot[data-drawn]")
        inputs.assert_unharmed()

    def test_a_pressed_strip_opens_its_token(self, inputs: Visit) -> None:
        page = inputs.page
        inputs.tab("The sum")
        page.wait_for_selector("#token-figure .plot[data-drawn]")
        expect(page.locator("#token-said")).to_contain_text("“The”")
        box = page.locator("#sum-figure .plot").bounding_box()
        page.mouse.move(box["x"] + 120, box["y"] + 44 + 26 * 2 + 13)
        page.mouse.click(box["x"] + 120, box["y"] + 44 + 26 * 2 + 13)
        expect(page.locator("#token-said")).to_contain_text("“bank”")
        page.get_by_role("button", name="Two sentences").click()
        expect(page.locator("#token-said")).to_contain_text("“The”")

    @pytest.mark.parametrize("text", HOSTILE)
    def test_a_visitor_s_text_neither_runs_nor_breaks_the_views(self, inputs: Visit, text: str) -> None:
        page = inputs.page
        inputs.tab("Pieces")
        page.locator("#pieces-text textarea").fill(f"{text} 我")
        page.get_by_role("button", name="Cut it in pieces").click()
        expect(page.locator("#pieces-notes")).to_contain_text("Unknown to")
        expect(page.locator("#pieces-rows img, #pieces-rows script, #pieces-rows b b")).to_have_count(0)
        rows(page).nth(0).locator("button.chip").first.click()
        expect(page.locator("#cut-steps .cut")).to_have_count(3)
        expect(page.locator("#cut-steps img, #cut-steps script, #cut-steps b b")).to_have_count(0)
        inputs.tab("The sum")
        page.get_by_label("First sentence").fill(text)
        page.get_by_role("button", name="Add up the embeddings").click()
        expect(page.locator("#sum-said")).to_contain_text("by at most")
        page.wait_for_selector("#token-figure .plot[data-drawn]")
        assert page.title() != "hacked"

    def test_another_model_takes_the_first_place_among_the_tokenizers(self, inputs: Visit, headless_model: str) -> None:
        page = inputs.page
        inputs.tab("Pieces")
        inputs.choose(headless_model)
        expect(rows(page).first).to_contain_text(headless_model)
        expect(rows(page)).to_have_count(3)

    def test_a_tokenizer_of_the_hub_joins_the_others_and_one_that_is_not_there_says_why(self, inputs: Visit) -> None:
        page = inputs.page
        choice = page.get_by_label("Tokenizers, up to 4").first
        choice.click()
        choice.fill(HUB_MODEL)
        choice.press("Enter")
        expect(rows(page)).to_have_count(4)
        expect(rows(page).nth(3).locator("button.chip").first).to_be_visible()
        page.locator(".token-remove").first.click()
        expect(rows(page)).to_have_count(3)
        choice.click()
        choice.fill("nobody/nothing")
        choice.press("Enter")
        expect(rows(page).locator(".pieces-problem")).to_contain_text("The hub has no model called nobody/nothing")


def test_positions_and_the_page_on_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    page = open_page(visit)
    open_tab(page, "Positions")
    page.wait_for_selector("#positions-figure .plot[data-drawn]")
    open_tab(page, "The sum")
    page.wait_for_selector("#sum-figure .plot[data-drawn]")
    assert page.locator("#sum-figure").bounding_box()["width"] <= 390
